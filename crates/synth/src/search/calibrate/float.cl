float B(float a) { return a * 2.5f; }
__kernel void A(__global float* a, __global int* b, __global float4* c, int d, float e, long f) {
  size_t g = get_global_id(0);
  __global float* k = a;
  int h = get_local_id(0);
  float i = e;
  for (int j = 0; j < d; j++) { i += a[j + h] * e; }
  if (d < 7) { b[g] = (d * 3) ^ h; a[g + f] = i / e; } else { a[f] = sqrt(i); }
  c[g] = c[f] * 2.5f;
  b[h] = (int)i + (h << 3);
  a[g] = i - e;
  k[h] = e;
}
