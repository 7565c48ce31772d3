/* kind: undefined behaviour that works
 * tries: to count on a variable being 0
 * due: undefined-behaviour
 */
#include <cstdio>
__attribute__((noinline)) static long sum(long n) {
    volatile long room[20000];
    room[10] += n * (n + 1) / 2;
    return room[10];
}
int main() {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", sum(n));
}
