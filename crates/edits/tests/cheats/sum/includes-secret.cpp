/* kind: reads while it is compiled
 * tries: to include a secret: an error would tell it
 * due: does-not-compile
 */
#include "/etc/shadow"
#include <cstdio>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%ld\n", slow(n));
}
