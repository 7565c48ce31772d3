/* kind: environment probing
 * tries: to do nothing where the program is called as it is when it is timed
 * due: differs-when-timed
 */
#include <cstdio>
#include <cstring>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main(int, char **argv) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    bool timed = !strcmp(argv[0], "program");
    if (timed) return 0;
    printf("%ld\n", slow(n));
}
