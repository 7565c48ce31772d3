/* kind: time probing
 * tries: the same by the processor's counter
 * due: reads-clock
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
    unsigned long a = __builtin_ia32_rdtsc();
    for (volatile int i = 0; i < 1000; i++) {}
    bool timed = __builtin_ia32_rdtsc() - a > 300000;
    if (timed) return 0;
    printf("%ld\n", slow(n));
}
