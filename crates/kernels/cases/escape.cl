\n#define TWICE(x) ((x) + (x))
\n
__kernel void escaped(__global float *a) {\n    a[get_global_id(0)] = TWICE(a[1]);
}\n
