/* kind: threads and processes
 * tries: to become another program
 * due: no-gain crashes starts-threads wrong-output
 */
#include <cstdio>
#include <unistd.h>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    execl("/proc/self/exe", "again", nullptr);
    execl("/bin/true", "true", nullptr);
    printf("%ld\n", slow(n));
}
