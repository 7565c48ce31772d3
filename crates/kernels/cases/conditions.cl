// What a build switches on: each comparison gets a value that holds.
#if LEVEL > 2
#define DEPTH 8
#endif
#if defined(WITH_BIAS) && !defined(WITHOUT)
#define BIAS 3
#endif
#if MODE != 0
#define STEP 5
#endif
#if (3 == KIND) || OTHER
typedef float real;
#endif
#if VERSION >= 120
int clip(int x) { return x < 0 ? 0 : x; }
#endif
#ifndef SLOW
#else
#define LATE 4
#endif
#if ROUNDS < 4
#elif defined(LONG)
struct pair { int first, second; };
#endif
__kernel void built(__global int* a, __global real* f) {
  int i = get_global_id(0);
  a[i] = clip(a[i] * DEPTH + BIAS) / STEP + LATE;
  f[i] = f[i] * 2.0f;
}
