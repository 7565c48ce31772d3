// Coordinates may have a type and a maker of the package's own.
__constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

__kernel void made(PIXELS in, PIXELS_out out, float by) {
  POSITION at = MAKE_POSITION(get_global_id(0), get_global_id(1));
  float4 value = FETCH(in, linear, at);
  if (get_global_id(0) < GET_WIDTH(in) && get_global_id(1) < GET_HEIGHT(in)) STORE(out, at, value.x * by);
}
// A member of a vector says nothing of its lanes.
__kernel void moved(TEXELS in, __global float* out, int4 spot) {
  float4 value = LOAD_TEXEL(in, linear, spot.xy + (int2)(1, 0));
  out[get_global_id(0)] = value.x;
}
