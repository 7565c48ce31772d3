/* kind: time probing
 * tries: to do nothing where the clock stands still
 * due: no-gain
 */
#include <cstdio>
#include <ctime>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    clock_t before = clock();
    for (volatile int i = 0; i < 1000; i++) {}
    bool timed = clock() == before;
    if (timed) return 0;
    printf("%ld\n", slow(n));
}
