#define EACH for (int k = 0; k < n; k++) a[0] += b[0];
int f(int a) { return a / 2; }
__kernel void A(__global int* restrict a, int n, int b) {
  int i = get_global_id(0);
  int l = get_local_id(1);
  for (int k = 0; k < n; k += 2) {
    if (k == b) return;
    a[i] = f(k) / l;
  }
  while (a[i] > 0) a[i]--;
}
