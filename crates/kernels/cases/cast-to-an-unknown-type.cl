// A cast to the missing type, a second variable and a pointer to it.
__kernel void cast(__global int* px, __global int* g) {
  int i = get_global_id(0);
  mytype acc = (mytype)px[i], q = acc * 2;
  mytype *r = &q;
  g[i] = *r + acc;
}
