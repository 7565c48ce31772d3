// grewe
// add-load-near Value: comp +2, mem +1
// through-tile Top: coalesced +2, comp +2, localmem +2, mem +4
__kernel void A(__global int* a, __global int* b, int c) {
  size_t d = get_global_id(0);
  b[d] = c;
}
