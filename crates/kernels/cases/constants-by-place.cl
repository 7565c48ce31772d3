// What stands left and right of a name says what it is.
__kernel void operators(__global float* f, __global int* n) {
  int i = get_global_id(0);
  float x = f[i];
  n[i] = n[i] % C_MOD + (n[i] >> C_RIGHT) + (C_LEFT << 2) + ~C_NOT + (n[i] && C_AND) + !C_BANG;
  n[i] &= C_ANDED;
  n[i] <<= C_SHIFTED;
  f[i] = F_BEFORE + x;
  f[i] = x - F_AFTER;
  f[i] *= F_SCALED;
  f[i] = x < F_LESS ? x : F_OTHER * 0.5f;
  f[i] += (F_INSIDE + x) * 2.0f;
  f[i] = -F_MINUS * 3.0f;
}
// Functions say what their arguments are, the language's and the file's own.
float blend(float from, int steps, __global float* to);
float blend(float from, int steps, __global float* to) { return from * steps + to[0]; }
int* first(__private int* list, float by) { list[0] += (int)by; return list; }
__kernel void arguments(__global float* f, __global int* n) {
  int i = get_global_id(0);
  int own[4] = {1, 2, 3, 4};
  f[i] = sqrt(G_ROOT) + pown(f[i], G_POWER) + ldexp(f[i], G_EXPONENT) + fmax(f[i], G_LEAST);
  f[i] += blend(G_FROM, G_STEPS, f) + first(own, G_BY)[0];
  n[i] = mad24(n[i], G_MUL, 3) + atomic_add(n, G_ADD) + (int)vload4(G_AT, f).x;
  barrier(G_FENCE);
}
// Statements do, too.
float level(int kind) { return R_FLOAT; }
int kind_of(float x) { if (x > 1.0f) return R_INT; return 2; }
__kernel void statements(__global float* f, __global int* n) {
  int i = get_global_id(0);
  switch (n[i]) {
    case S_CASE: n[i] = 2; break;
    default: n[i] = kind_of(f[i]);
  }
  while (n[i] > W_BOUND) n[i] -= 3;
  if (I_FLAG) f[i] = level(n[i]);
  n[i] = n[S_INDEX] == 'a' ? n[i] : n[i] + S_ELSE;
  f[S_TABLE[i & 3]] = T_REALS[i & 7] * 1.5f;
}
// Members of vectors and structures are what they are declared as.
typedef struct { float weight; int count; } Item;
__kernel void members(__global float4* v, __global Item* items, __global int4* w) {
  int i = get_global_id(0);
  v[i].x = v[i].y * M_VECTOR;
  w[i].s0 = w[i].s1 + M_WHOLE;
  v[i] = v[i] * M_LANES;
  items[i].count = M_COUNT % 3;
  items[i].weight = v[i].z - M_WEIGHT;
}
