// The address of a variable says nothing of its type.
__kernel void local_pointer(__global real* x) {
  real acc = x[1];
  real *r = &acc;
  x[0] = *r;
}
__kernel void several_pointers(__global float* x) {
  amount acc = x[1] * 0.5f;
  amount *r = &acc, *s = &acc;
  x[0] = *r + *s;
}
