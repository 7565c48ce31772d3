// autophase
// fence-global Any: numConstOnes -1
__kernel void A(__global int* a) {
  a[1] = 5;
  barrier(CLK_LOCAL_MEM_FENCE);
}
