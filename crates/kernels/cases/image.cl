// The package writes the types and accessors of its images at run time.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void flat(PIXELS_in in, PIXELS_out out, float by) {
    const int2 at = (int2){get_global_id(0), get_global_id(1)};
    if (at.x < IMAGE_WIDTH(in)) {
        STORE_out(out, at, FETCH_in(in, nearest, at).x * by);
    }
}
