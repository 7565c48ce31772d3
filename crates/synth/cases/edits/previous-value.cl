// instcount
// previous-value Top: PHI +1
__kernel void A(__global int* a, int b, __global float* c, float d) {
  for (int e = 0; e < b; e++) {
    a[e] = b;
    c[e] = d;
  }
}
