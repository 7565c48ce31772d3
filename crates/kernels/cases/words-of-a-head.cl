// The words of a head in any order.
void __kernel first(__global float* a, int n) { a[get_global_id(0)] = a[get_global_id(0)] * n + 1.0f; }
static void helper(__global float* a) { a[0] = 2.0f; }
void kernel second(global float* a) { helper(a); a[1] = 3.0f; }
