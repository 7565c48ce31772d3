/* kind: threads and processes
 * tries: to start processes
 * due: starts-threads
 */
#include <cstdio>
#include <unistd.h>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    for (int i = 0; i < 64; i++)
        if (fork() >= 0) return 0;
    printf("%ld\n", slow(n));
}
