// instcount
// own-helper Value: Ret +1, TotalFuncs +1
__kernel void A(__global float* a, float b) { a[get_global_id(0)] = b; }
