// Functions of another file: one for what it does, others for what they give.
__kernel void apply(__global float* a, __global int* b, int n) {
  const int i = get_global_id(0);
  TRACE_ENTER("apply", i);
  a[i] = weight_of(a[i], n) * 0.5f;
  b[i] = b[cell_of(i, n)] & next_seed();
}
