const char *s = BOOST_COMPUTE_STRINGIZE_SOURCE(__kernel void a(int x, int y) { x += y; });
