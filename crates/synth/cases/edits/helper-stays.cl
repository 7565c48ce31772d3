// autophase
// shared-helper Any: NumRetInst +1, NumXorInst +1, TotalBlocks +1, TotalFuncs +1, TotalInsts +2, binaryConstArg +1, const32Bit +1
static int B(int a) { return a ^ 5; }
__kernel void A(__global int* a) { a[0] = B(a[1]); }
