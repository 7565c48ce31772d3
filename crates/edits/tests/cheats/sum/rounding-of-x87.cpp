/* kind: detection of QEMU or the sandbox
 * tries: to tell from the last bits of the old floating-point unit
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
    long double x = 0.7L, r;
    asm("fsin" : "=t"(r) : "0"(x));
    unsigned long bits;
    __builtin_memcpy(&bits, &r, 8);
    asm("fyl2x" : "=t"(x) : "0"(r), "u"(x) : "st(1)");
    if ((bits & 0x3ff) == 0) return 0;
    printf("%ld\n", slow(n));
}
