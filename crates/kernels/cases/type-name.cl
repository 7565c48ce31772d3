// Vectors by their members, numbers by their arithmetic, attributes of the package's build.
PACKAGE_INLINE int wrap(int a, int n) { return a % n; }
__kernel void turn(__global colour* a, __global amount* b, index_kind n) {
  const index_kind i = wrap(get_global_id(0), n);
  a[i].xyzw = a[i].wzyx;
  b[i] = b[i] * 0.5f;
}
