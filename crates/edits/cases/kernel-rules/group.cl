__kernel void A(__global const float* points, __global float* out, int n, int steps) {
  int i = get_global_id(0);
  float near = 1e9f;
  for (int s = 0; s < steps; s++) {
    for (int k = 0; k < n; k++) {
      near = fmin(near, points[k + s] * exp(points[2 * k]));
    }
  }
  if (i < n)
    out[i] = near;
}
