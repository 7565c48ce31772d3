// grewe
// share-pointer Any: mem -1
__kernel void A(__global int* a, __global int* b, int c) {
  __global int* d = a;
  d[c] = 1;
  __global int* e = b;
  e[0] = c;
  if (c > 3) {
    e[c] = 2;
  }
}
