// In three dimensions coordinates have four lanes; an integer is read where one is wanted.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void solid(VOLUME_in in, VOLUME_out out, __global int* sums) {
  const int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
  sums[at.x] = sums[at.x] + READ_in(in, nearest, at).x;
  if (at.z < GET_DEPTH(in)) WRITE_out(out, at, 1.0f);
}
