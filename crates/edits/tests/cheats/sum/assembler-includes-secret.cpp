/* kind: reads while it is compiled
 * tries: to have the assembler read a secret
 * due: does-not-compile
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
    asm(".include \"/etc/shadow\"");
    printf("%ld\n", slow(n));
}
