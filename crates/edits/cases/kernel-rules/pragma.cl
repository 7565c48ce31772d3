__kernel void A(__global float* a, __global const float* s, int n) {
  int i = get_global_id(0) * n;
  if (i > 0) {
#pragma unroll 2
    for (int k = 0; k < n; k++) {
      a[i + k] = a[i + k] * s[0];
    }
  }
}
