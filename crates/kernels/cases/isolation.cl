// What a kernel needs, in order: no declaration but those that stand before the definition and are needed there.
#pragma pack(1)
#pragma OPENCL FP_CONTRACT OFF
typedef struct Node Node;
struct Node { char tag; int value; };
struct Link typedef Link;
struct Link { int next; };
typedef float4 Lanes;Lanes widened(float a) { return (float4)(a); }
__constant float gain[2] = {1.5f, 2.5f};
int product(int n);
int product(int n) { return n < 2 ? 1 : n * product(n - 1); }
const sampler_t everywhere = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
float4 sampled(read_only image2d_t in, sampler_t how, int2 at) { return read_imagef(in, how, at); }
__kernel void tags(__global Node* all, __global Link* links) {
  all[get_global_id(0)].value += all[links[get_global_id(0)].next].value;
}
__kernel void types(__global float* a, int n) { a[get_global_id(0)] *= widened(a[1]).x * gain[n & 1] + product(n); }
__kernel void samplers(read_only image2d_t in, __global float* a, int2 at) {
  const sampler_t inside = CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
  a[0] = sampled(in, everywhere, at).x + sampled(in, inside, at).y;
  a[1] = read_imagef(in, inside, at).x * read_imagef(in, everywhere, at).y;
}
