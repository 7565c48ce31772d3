// Constants of the build: bounds, tables, tolerances.
__kernel void relax(__global float* a, __global int* b) {
  __local float tile[TILE_WIDTH];
  const int i = get_global_id(0);
  tile[get_local_id(0)] = a[i] * relaxation + coefficients[i & 3] * 2.5f;
  for (int j = 0; j < SWEEPS; ++j)
    if (fabs(a[i] - tile[j]) > CONVERGENCE_EPS) a[i] = tile[j];
  b[i] = (b[i] << RADIX_SHIFT) + b[offsets[i]];
}
