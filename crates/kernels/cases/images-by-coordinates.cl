// Coordinates may have a type and a maker of the package's own.
__constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

__kernel void made(PIXELS in, PIXELS_out out, float by) {
  POSITION at = MAKE_POSITION(get_global_id(0), get_global_id(1));
  float4 value = FETCH(in, linear, at);
  if (get_global_id(0) < GET_WIDTH(in) && get_global_id(1) < GET_HEIGHT(in)) STORE(out, at, value.x * by);
}
