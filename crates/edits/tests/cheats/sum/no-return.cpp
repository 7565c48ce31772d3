/* kind: undefined behaviour that works
 * tries: to leave a function without the value that it is asked for
 * due: undefined-behaviour wrong-output crashes timeout
 */
#include <cstdio>
long s;
__attribute__((noinline)) long sum(long n) {
    s = n * (n + 1) / 2;
    if (n < 0) return s;
}
int main() {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    sum(n);
    printf("%ld\n", s);
}
