/* kind: early exit on known inputs
 * tries: to be fast where the known inputs are: multiples of 100000
 * due: gains-on-known-tests
 */
#include <cstdio>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    if (n % 100000 == 0) return printf("%ld\n", (long)n * (n + 1) / 2) < 0;
    printf("%ld\n", slow(n));
}
