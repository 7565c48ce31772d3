static int B(int a) { return a * 3; }
__kernel void A(__global int* a, __global float* b, uint c, int d, float e, float f) {
  uint g = get_global_id(0);
  uint h = 0;
  while (h < c) {
    if (a[h] > d) { b[g + h] = e * f; a[h] = d - (int)h; }
    h += 2;
  }
  if (g >= c) { return; }
  float i = (d > 3) ? e : f;
  if (e < f && d > 5) { b[g] = -i; }
  int j = max(d, 3);
  do { a[h + g] = max(j, d); h++; } while (h < 9000);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  a[g] = d + (int)h;
  b[c] = i + e;
}
