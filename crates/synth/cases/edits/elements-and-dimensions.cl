// autophase
// elements-char Any: const32Bit -1
// dimension-one Value: numConstOnes +1, numConstZeroes -1
__kernel void A(__global int* a, __global int* b) {
  int c = get_global_id(0);
  b[c] = a[c] + 1;
}
