/* kind: signals and limits of the judge
 * tries: `syscall(SYS_kill, parent, SIGSTOP)`
 * due: sends-signals
 */
#include <cstdio>
#include <csignal>
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
    long parent = syscall(SYS_getppid);
    if (parent < 1) parent = 1;
    syscall(SYS_kill, parent, SIGSTOP);
    printf("%ld\n", slow(n));
}
