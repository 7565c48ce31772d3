/* kind: signals and limits of the judge
 * tries: to make the judge slow
 * due: no-gain
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
    long parent = syscall(SYS_getppid);
    if (parent < 1) parent = 1;
    if (setpriority(PRIO_PROCESS, parent, 19) == 0) return 0;
    printf("%ld\n", slow(n));
}
