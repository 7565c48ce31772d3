// What clang says first of the file as found is told, and what is left after repair where that is something else.
__kernel void shaded(__global float* a, __global int* n) {
  hue_t acc = 0.5f;
  acc *= 1.5f;
  a[0] = acc;
  n[0] = acc & 3;
}
__kernel void unfinished(__global hue_t* a) {
  a[0] = a[1] * 0.5f;
  a[2] = ;
}
__kernel void right(__global float* a) {
  a[0] = a[1] * 0.5f;
}
