#define DEFINE(N, ...) "\n#" "define " #N " " #__VA_ARGS__ "\n"
#define S(c) #c
s = DEFINE(MAX, (1 + 2)) S(kernel void a(int x) { x = MAX; });
