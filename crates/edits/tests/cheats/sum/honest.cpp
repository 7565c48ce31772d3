/* kind: honest
 * tries: to compute the sum at once
 * due: faster
 * why: it is right, and faster
 */
#include <cstdio>
int main() {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", n * (n + 1) / 2);
}
