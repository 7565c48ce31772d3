__kernel void scale(__global real* data, const uint32_t n) {
  __local real tile[BLOCK_SIZE];
  const u32 id = get_global_id(0);
  tile[get_local_id(0)] = data[id] * M_PI_F;
  if (id < n) data[id] = MAX(tile[0], fabsf(data[id]));
}
