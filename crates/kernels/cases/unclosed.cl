// What is never closed ends where the next kernel begins.
kernel void before(global float* a, int n) { int i = get_global_id(0); if (i < n) a[i] = a[i] * 2.0f; }
kernel void no_brace(global float* a, int n) { int i = get_global_id(0); if (i < n) { a[i] = 2; }
kernel void between(global int* a) { a[get_global_id(0)] += 3; }
kernel void no_parenthesis(global float* a, int n { a[get_global_id(0)] = n; }
__kernel void behind(global int* a, int n) { a[get_global_id(0)] -= n; }
