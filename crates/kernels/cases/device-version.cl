// A header for both sides knows the device by its version.
#ifdef __OPENCL_VERSION__
typedef float real;
#define GLOBAL __global
#else
typedef double real;
#define GLOBAL
#endif

__kernel void add(GLOBAL real* a, GLOBAL const real* b) {
#if __OPENCL_VERSION__ >= 110
  a[get_global_id(0)] += b[get_global_id(0)];
#endif
}
