__kernel void halves(__global half *a) {
    half b = a[0];
    a[get_global_id(0)] = b * b;
}
