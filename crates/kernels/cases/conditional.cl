#if VECT_SIZE == 1
typedef uint word;
#elif VECT_SIZE == 2
typedef uint2 word;
#endif
#ifdef USE_DOUBLES
#define SUM double
#endif
__kernel void add(__global word* a, __global SUM* b) { a[get_global_id(0)] += (word)b[DGST_R1]; }
