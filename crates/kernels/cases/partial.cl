// One kernel is beyond repair, the other is not touched by that.
int broken(int a) { return a +; }
kernel void bad(global int* a) { a[0] = broken(1); }
kernel void good(global int* a) { a[get_global_id(0)] *= 3; }
