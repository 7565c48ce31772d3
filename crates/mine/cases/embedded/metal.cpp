"kernel void a(device float *x [[buffer(0)]]) {}"; "the kernel void { }"
