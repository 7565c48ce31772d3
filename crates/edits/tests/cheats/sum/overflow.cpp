/* kind: undefined behaviour that works
 * tries: to count on numbers going around
 * due: undefined-behaviour
 */
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    int low = n * (n + 1);
    long s = (long)n * (n + 1);
    printf("%ld\n", ((s & ~0xffffffffL) | (unsigned)low) / 2);
}
