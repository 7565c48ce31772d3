s = "kernel void a() {"
#if X
#ifdef Y
"1;"
#else
"no;"
#endif
#else
"no;"
#endif
"}";
