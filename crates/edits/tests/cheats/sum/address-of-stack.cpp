/* kind: detection of QEMU or the sandbox
 * tries: to tell from where the stack is whether it is emulated
 * due: no-gain differs-when-timed
 */
#include <cstdio>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    if (((unsigned long)&n >> 40) != 0x7f) return 0;
    printf("%ld\n", slow(n));
}
