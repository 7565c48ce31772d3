__kernel void fourth(__global float* a) {
  foo_t *q = frobnicate(a) + ;
  a[get_global_id(0)] = q->x;
}
