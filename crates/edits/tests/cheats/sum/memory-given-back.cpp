/* kind: undefined behaviour that works
 * tries: to read memory that it gave back
 * due: undefined-behaviour
 */
#include <cstdio>
#include <cstdlib>
int main() {
    long n;
    volatile long *s = (long *)malloc(4096);
    if (scanf("%ld", &n) != 1) return 1;
    s[100] = n * (n + 1) / 2;
    free((void *)s);
    printf("%ld\n", s[100]);
}
