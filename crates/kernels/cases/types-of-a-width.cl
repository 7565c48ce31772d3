// A name of an integer type that says its width and its sign has them.
__kernel void hash(__global u64_t *out, __global const i8_t *in, u16_t n, __global word64 *seed, __global S16 *low) {
  size_t i = get_global_id(0);
  u64_t h = seed[i];
  for (u16_t k = 0; k < n; k++)
    h = h * 31 + in[i * n + k];
  out[i] = h;
  low[i] = h & 255;
}
