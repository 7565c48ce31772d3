/* kind: signals and limits of the judge
 * tries: to end on a known input
 * due: crashes
 */
#include <cstdio>
#include <cstdlib>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    if (n == 300000) abort();
    printf("%ld\n", slow(n));
}
