__kernel void A(__global const float* a, __global const float* b, __global float* c, int n) {
  int x = get_global_id(0);
  int y = get_global_id(1);
  for (int k = 0; k < n; k++) {
    c[y * n + x] += a[y * n + k] * b[k * n + x];
  }
}
