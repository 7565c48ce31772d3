// autophase
// call-float Value: NumCallInst +1, TotalInsts +1
// call-float-first Value: NumCallInst +1, TotalFuncs +1, TotalInsts +1
// call-integer-first Value: NumCallInst +1, TotalFuncs +1, TotalInsts +1, returnInt +1
// uncall-float-last Value: NumCallInst -1, TotalFuncs -1, TotalInsts -1
// fence-first Top: NumCallInst +1, TotalFuncs +1, TotalInsts +1, const32Bit +1
__kernel void A(__global float* a, __global int* b, float c, int d, long e) {
  a[0] = sqrt(c) + c;
  b[get_local_id(0)] = d;
  b[e] = d;
}
