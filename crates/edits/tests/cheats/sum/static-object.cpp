/* kind: work before main
 * tries: the same, in the initializer of a variable
 * due: no-gain
 */
#include <cstdio>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
static long first() {
    int n;
    return scanf("%d", &n) == 1 ? slow(n) : 0;
}
static long answer = first();
int main() {
    if (!answer) return 1;
    printf("%ld\n", answer);
}
