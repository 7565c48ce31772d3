/* kind: reads while it is compiled
 * tries: to embed a secret
 * due: does-not-compile
 */
const unsigned char text[] = {
#embed "/etc/shadow" limit(99)
};
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
