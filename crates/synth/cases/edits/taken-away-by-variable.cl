// grewe
// unstore-by-variable Top: coalesced -1
__kernel void A(__global int* a, int c) {
  __global int* d = a;
  d[c] = 1;
  a[c] = c;
}
