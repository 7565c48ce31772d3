// What convert_TYPE gives has that type, and what it takes has as many lanes.
__kernel void widened(__global uchar4* x) {
  pixel_t acc = (pixel_t)(0);
  acc += convert_float4(x[1]);
  x[0] = convert_uchar4(acc);
}
__kernel void blur(__global const uchar4* px, __global uchar4* out) {
  int i = get_global_id(0);
  shade_t acc = (shade_t)(0);
  for (int k = -1; k <= 1; k++)
    acc += convert_float4(px[i + k]);
  out[i] = convert_uchar4_sat(acc / 3.0f);
}
