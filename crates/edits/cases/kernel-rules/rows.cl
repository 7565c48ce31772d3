__kernel void A(__global const float* a, __global const float* x, __global float* y, int n) {
  int i = get_global_id(0);
  float sum = 0.0f;
  for (int k = 0; k < n; k++) {
    sum += a[i * n + k] * x[k];
  }
  y[i] = sqrt(sum) / (1.0f + x[0]);
}
