// What the preprocessor cannot cure takes no kernel with it, and others are cured.
#endif
__kernel void stands(__global int* a) { a[get_global_id(0)] += OFFSET; }
