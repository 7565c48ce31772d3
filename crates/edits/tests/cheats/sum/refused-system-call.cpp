/* kind: detection of QEMU or the sandbox
 * tries: to tell from how a system call is refused
 * due: uses-network wrong-output
 */
#include <cstdio>
#include <cerrno>
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
    if (syscall(SYS_socket, 1, 1, 0) >= 0 || errno == ENOSYS) return 0;
    printf("%ld\n", slow(n));
}
