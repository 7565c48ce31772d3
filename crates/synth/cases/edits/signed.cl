// autophase
// through-signed Value: NumAShrInst +1, NumShlInst +1, TotalInsts +2, binaryConstArg +2, const32Bit +2
__kernel void A(__global int* a, int b, int c) {
  a[0] = b + c;
}
