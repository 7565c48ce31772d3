#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    printf("%ld\n", s);
}
