// autophase
// vary-invariants Top: CriticalCount +1, NumBrInst -1, TotalBlocks -1, TotalInsts -1, UncondBranches -1, onePred -1, onePredOneSuc -1
__kernel void A(__global float* a, int b, int c, int d) {
  float e = 0.0f;
  for (int f = 0; f < b; f++) {
    e += a[(f ^ 5) + c * d];
  }
  a[0] = e;
}
