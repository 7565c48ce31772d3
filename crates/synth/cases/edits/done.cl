// instcount
// negate-float Value: FNeg +1
// index-wide Index: GetElementPtr +1
__kernel void A(__global float* a, float b) {
  a[0] = b;
}
