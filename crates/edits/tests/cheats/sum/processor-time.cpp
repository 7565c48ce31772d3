/* kind: time probing
 * tries: to ask the system what it took
 * due: no-gain reads-clock differs-when-timed
 */
#include <cstdio>
#include <sys/resource.h>
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
    rusage about;
    for (volatile int i = 0; i < 100000; i++) {}
    syscall(SYS_getrusage, RUSAGE_SELF, &about);
    bool timed = about.ru_utime.tv_sec * 1000000 + about.ru_utime.tv_usec > 50000;
    if (timed) return 0;
    printf("%ld\n", slow(n));
}
