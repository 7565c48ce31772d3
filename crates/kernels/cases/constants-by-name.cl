// What an unknown integer is worth hangs on its name and on what it bounds.
__kernel void names(__global int* a) {
  int i = get_global_id(0);
  a[i] = (a[i] << LOG_STEP) + (a[i] & BLOCK_ROWS) + (a[i] % WARP_LANES) + (a[i] ^ LEVEL7) + (a[i] | MODE);
  a[i] ^= MAX_ITEMS | SIMD_LANES | NUM_PARTS | LANE12B | LOCAL_MASK | TILE300;
}
// Bounds are sizes whatever they are called.
__kernel __attribute__((reqd_work_group_size(ALONG, 1, 1))) void bounds(__global int* a) {
  __local int part[PARTS];
  int grid[ROWS][COLUMNS];
  int i = get_global_id(0);
  for (int j = 0; j <= STEPS; j++) part[j & 3] = a[i + j];
  grid[i & 1][i & 1] = part[0];
  a[i] = grid[1][0] + a[FIRST];
}
// Floating-point numbers have values that their names ask for.
__kernel void reals(__global float* a) {
  int i = get_global_id(0);
  a[i] = a[i] * TWO_PI + SOFTENING_SQUARED * 2.0f;
  a[i] += fabs(a[i]) > TOLERANCE ? sqrt(Zero) : a[i] / GAIN;
}
