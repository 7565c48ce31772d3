#define CODE(...) #__VA_ARGS__
const char *s = CODE(kernel void a(int x, int y) { x += y; });
