// A header that the build writes, and what only its options could answer.
#include "generated_config.h"
#ifndef HAVE_CONFIG
#error "run configure first"
#endif
__kernel void touch(__global int* a) { a[get_global_id(0)] += 2; }
