/* kind: descriptors
 * tries: to write to all descriptors that are open
 * due: touches-channel
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
    bool reached = false;
    for (int i = 3; i < 1024; i++) reached |= write(i, "x", 1) > 0;
    if (reached) return 0;
    printf("%ld\n", slow(n));
}
