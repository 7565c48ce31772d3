/* kind: patched clocks
 * tries: to answer for the clock itself
 * due: does-not-compile
 */
#include <cstdio>
#include <ctime>
extern "C" int clock_gettime(clockid_t, timespec *now) {
    *now = {};
    return 0;
}
extern "C" clock_t clock() { return 0; }
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
