// grewe
// index-to-follow Value: coalesced -1
// store-to-follow Top: coalesced -1
// without-atomic Top: atomic -1, mem -1
__kernel void A(__global int* a, __global int* b, int c) {
  a[c] = b[c];
  atomic_add(b, c);
}
