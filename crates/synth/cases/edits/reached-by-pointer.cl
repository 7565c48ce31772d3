// grewe
// store-by-pointer Branch: coalesced +1
// to-local Value: coalesced -1, localmem +1
// by-variable Value: mem -1
__kernel void A(__global int* a, int b, int c) {
  __global int* d = a;
  if (b < c) {
    d[b] = a[c];
  }
}
