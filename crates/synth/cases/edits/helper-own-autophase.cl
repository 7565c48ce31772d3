// autophase
// own-helper Value: NumRetInst +1, TotalBlocks +1, TotalFuncs +1, TotalInsts +1
__kernel void A(__global float* a, float b) { a[get_global_id(0)] = b; }
