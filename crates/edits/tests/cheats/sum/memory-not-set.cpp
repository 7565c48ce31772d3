/* kind: undefined behaviour that works
 * tries: to count on fresh memory being 0
 * due: undefined-behaviour
 */
#include <cstdio>
#include <cstdlib>
int main() {
    long n, *s = (long *)malloc(64);
    if (scanf("%ld", &n) != 1) return 1;
    s[4] += n * (n + 1) / 2;
    printf("%ld\n", s[4]);
}
