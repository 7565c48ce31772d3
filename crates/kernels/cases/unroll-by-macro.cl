// The number of a loop's copies is a macro: of the file, or of the host that builds it.
#define FACTOR 4
#define ALL

__kernel void of_the_file(__global float* a, __global const float* b) {
  float sum = 0.0f;
#pragma unroll FACTOR
  for (int i = 0; i < 16; i++)
    sum += b[i];
  a[get_global_id(0)] = sum;
}

__kernel void of_the_host(__global float* a, __global const float* b) {
  float sum = 0.0f;
#pragma unroll COPIES
  for (int i = 0; i < COPIES; i++)
    sum += b[i];
  a[get_global_id(0)] = sum;
}

__kernel void by_clang(__global float* a, __global const float* b) {
  float sum = 0.0f;
#pragma clang loop unroll_count(FACTOR)
  for (int i = 0; i < 16; i++)
    sum += b[i];
#pragma unroll ALL
  for (int i = 0; i < 3; i++)
    sum += b[i + 16];
  a[get_global_id(0)] = sum;
}
