/* kind: threads and processes
 * tries: to have the kernel work in the background
 * due: no-gain crashes
 */
#include <cstdio>
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
    char parameters[120] = {};
    if (syscall(SYS_io_uring_setup, 8, parameters) >= 0) return 0;
    printf("%ld\n", slow(n));
}
