__kernel void A(__global int* a, __global int* b, __local int* c, int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; k++) {
    a[i] += b[i];
    b[k] = a[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    c[i] += k;
  }
  float sum = 0;
  for (int k = i; k < n; k++) {
    sum += b[k] * sum;
    if (sum > 3) break;
  }
  a[i] = sum;
}
