// grewe
// store-named Top: coalesced +1, mem +1
// copy-named Top: coalesced +2, mem +2
// accumulate-named Top: coalesced +1, mem +1
// through-tile-named Top: coalesced +2, comp +2, localmem +2, mem +4
// add-load-named Value: coalesced +1, comp +1, mem +1
// add-load-named-near Value: comp +2, mem +1
// load-named-instead Value: coalesced +1, mem +1
__kernel void A(__global float* a, float b) {
  a[get_global_id(0)] = b;
}
