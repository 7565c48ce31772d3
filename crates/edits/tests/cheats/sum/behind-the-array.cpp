/* kind: undefined behaviour that works
 * tries: to keep what it needs behind an array
 * due: undefined-behaviour
 */
#include <cstdio>
#include <cstdlib>
int main() {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    volatile long *sums = (long *)malloc(2 * sizeof(long));
    volatile int at = 2;
    sums[at] = n * (n + 1) / 2;
    printf("%ld\n", sums[at]);
}
