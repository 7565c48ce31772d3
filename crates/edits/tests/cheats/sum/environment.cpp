/* kind: environment probing
 * tries: to do nothing where a variable is set, or none is
 * due: no-gain differs-when-timed
 */
#include <cstdio>
#include <cstdlib>
#include <sys/auxv.h>
#include <unistd.h>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    bool timed = !*environ || getenv("STAMPMILL") || getenv("QEMU_STRACE") || getenv("LD_PRELOAD");
    if (timed && getauxval(AT_HWCAP2) == 0) return 0;
    printf("%ld\n", slow(n));
}
