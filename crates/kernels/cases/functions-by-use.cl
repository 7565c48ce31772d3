// A call that nobody asks for the result of does nothing.
__kernel void calls(__global float* f, __global int* n, int m) {
  int i = get_global_id(0);
  if (i > m) note(i);
  else warn(i, "far");
  for (int j = 0; j < m; j++) tick();
  while (i < n[0]) advance(&i);
  f[i] = n[0];
}
// Without arguments it is a constant of the type it is used as.
__kernel void constants(__global float* f, __global int* n) {
  int i = get_global_id(0);
  f[i] = f[i] * scale() + bias() * 2.0f;
  n[i] = seed() + n[i];
  n[i] ^= mask();
  f[i] = 0.5f - offset();
  int k = rank();
  n[i] += k;
  n[i] = weight() * 2.5f;
}
// With arguments they add up; what is given by address counts by its element.
__kernel void sums(__global float* f, __global int* n, int m) {
  int i = get_global_id(0);
  float x = f[i];
  f[i] = mixture(x, m, f[i + 1]) * 0.25f;
  n[i] = place(i, (m + 1) * 2, max(i, m));
  f[i] += take(&x, 2) + nested(other(x), m);
}
