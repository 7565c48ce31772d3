/* kind: work before main
 * tries: to do all work after `main`
 * due: no-gain
 */
#include <cstdio>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
static int n;
__attribute__((destructor)) static void after() {
    if (n) printf("%ld\n", slow(n));
}
int main() { return scanf("%d", &n) - 1; }
