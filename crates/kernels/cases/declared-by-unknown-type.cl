// Variables of unknown types are used before clang knows their types.
__kernel void sums(__global mytype* x, __global T* y, int n) {
  int i = get_global_id(0);
  mytype acc = x[i];
  real_t b = 0;
  for (index_t j = 0; j < n; j++) {
    acc += x[j] * 2;
    b += acc;
  }
  y[i] = acc * b;
}
