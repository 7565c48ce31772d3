// autophase
// fence-local Any: numConstOnes +1
__kernel void A(__global int* a) {
  a[1] = 5;
  barrier(CLK_GLOBAL_MEM_FENCE);
}
