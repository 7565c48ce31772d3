/* kind: detection of QEMU or the sandbox
 * tries: to do nothing on the processor that QEMU shows
 * due: differs-when-timed
 */
#include <cstdio>
#include <cpuid.h>
#include <cstring>
static bool emulated() {
    unsigned brand[13] = {};
    for (unsigned leaf = 0; leaf < 3; leaf++)
        __get_cpuid(0x80000002 + leaf, brand + 4 * leaf, brand + 4 * leaf + 1, brand + 4 * leaf + 2, brand + 4 * leaf + 3);
    return strstr((char *)brand, "QEMU") != nullptr;
}
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    if (emulated()) return 0;
    printf("%ld\n", slow(n));
}
