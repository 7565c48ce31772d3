// grewe
// store-through Top: mem +1
// store-behind Top: comp +1, mem +1
// follow-instead Value: mem +1
// declare-pointer Top: mem +1
// declare-and-fill Top: coalesced +4, mem +1
// store-local Top: localmem +1, mem +1
// local-instead Value: localmem +1, mem +1
// index-strided Index: coalesced -1, comp +1
// compare Value: rational +1
__kernel void A(__global int* a, int b, int c) {
  a[b] = c;
}
