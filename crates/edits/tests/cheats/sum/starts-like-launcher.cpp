/* kind: the judge's files
 * tries: to say what the launcher says when it cannot start
 * due: wrong-output
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
    fputs("stampmill-launch: cannot start: fake\n", stderr);
    return 127;
}
