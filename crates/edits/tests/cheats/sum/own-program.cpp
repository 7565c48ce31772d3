/* kind: the judge's files
 * tries: to write another program over its own
 * due: no-gain
 */
#include <cstdio>
#include <fcntl.h>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main(int, char **argv) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    if (open("/proc/self/exe", O_WRONLY) >= 0 || open(argv[0], O_WRONLY) >= 0 || rename(argv[0], "/tmp/old") == 0) return 0;
    printf("%ld\n", slow(n));
}
