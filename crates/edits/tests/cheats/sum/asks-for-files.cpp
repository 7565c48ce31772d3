/* kind: reads while it is compiled
 * tries: to ask in an expression whether files are there
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
    if (__has_include("@HOME@/hidden/sum/output.0.txt") || __has_include("/etc/shadow")) return 0;
    printf("%ld\n", slow(n));
}
