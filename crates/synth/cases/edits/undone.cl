// instcount
// without-and Value: And -1
// without-multiply-float Value: FMul -1
// without-subtract-float Value: FSub -1
// unconvert-float-to-int Value: FPToSI -1
// unstore Top: GetElementPtr -1, Store -1
// index-fixed Index: GetElementPtr -1
__kernel void A(__global int* a, __global float* b, int c, float d, long e) {
  a[e] = (c & 5) + (int)d;
  b[0] = d * 2.5f;
  b[3] = 2.5f - d;
  a[1] = c;
}
