/* kind: work before main
 * tries: to do all work in a function that runs before `main`
 * due: no-gain
 */
#include <cstdio>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
static long answer;
__attribute__((constructor)) static void before() {
    int n;
    if (scanf("%d", &n) == 1) answer = slow(n);
}
int main() {
    if (!answer) return 1;
    printf("%ld\n", answer);
}
