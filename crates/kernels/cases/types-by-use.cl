// A type is what its variables are used as; where nothing says it, its name does.
__kernel void use(__global elem* a, __global Count* n, __global pos3* p, __global flag_byte* b) {
  int i = get_global_id(0);
  elem x = a[i];
  a[i] = x * 0.5f + sqrt(x);
  Count k = n[i];
  n[i] = (k << 1) % 7;
  p[i] = p[i + 1];
  b[i] = b[i + 1];
}
__kernel void name(__global index_type* a, __global uhash* h, __global real_double* d, __global fp16_t* s, __global label* l) {
  int i = get_global_id(0);
  a[i] = a[i + 1];
  h[i] = h[i] >> 3;
  d[i] = d[i] * 2.0f;
  l[i] = l[i + 1];
}
// A word before a type is a qualifier; one with a list, an attribute.
FORCED int twice(int x) { return 2 * x; }
__kernel GROUPS_OF(64) void words(__global int* a, UNALIASED __global int* b) {
  int i = get_global_id(0);
  a[i] = twice(b[i]) + (wide)a[i] + (int)sizeof(cell);
}
