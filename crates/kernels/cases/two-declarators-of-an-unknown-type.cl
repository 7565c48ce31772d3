// Both variables are declared once the type is known; neither is a constant of the package.
__kernel void pair(__global real* x) {
  real acc = x[1], q = acc * 2;
  x[0] = q + acc;
}
__kernel void several(__global int* x) {
  thing a = x[0], b[2], c = a % 3;
  b[0] = a;
  b[1] = c;
  for (thing i = 0, n = x[1]; i < n; i++)
    x[2] += b[i & 1];
}
