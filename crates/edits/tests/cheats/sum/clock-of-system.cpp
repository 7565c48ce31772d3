/* kind: time probing
 * tries: to do nothing where a loop takes long
 * due: reads-clock
 */
#include <cstdio>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    timespec a, b;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &a);
    for (volatile int i = 0; i < 1000; i++) {}
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &b);
    bool timed = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec > 100000;
    if (timed) return 0;
    printf("%ld\n", slow(n));
}
