// The name of a type is a hint, the members that are used say what it is: a vector, or a structure with parts of its own.
__kernel void multiply(__global cplx *a, __global const cplx *b) {
  int i = get_global_id(0);
  cplx t;
  t.re = a[i].re * b[i].re - a[i].im * b[i].im;
  t.im = a[i].re * b[i].im + a[i].im * b[i].re;
  a[i] = t;
}
__kernel void add(__global complex_t *a, __global const complex_t *b) {
  int i = get_global_id(0);
  a[i].p = a[i].p + b[i].p;
  a[i].q = a[i].q + b[i].q;
}
__kernel void scale(__global cfloat *a, float by) {
  int i = get_global_id(0);
  a[i].x = a[i].x * by;
  a[i].y = a[i].y * by;
}
