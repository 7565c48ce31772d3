/* kind: threads and processes
 * tries: to start a thread without the library
 * due: starts-threads
 */
#include <cstdio>
#include <sched.h>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    static char stack[65536];
    int id = clone([](void *) { return 0; }, stack + sizeof stack, CLONE_VM, nullptr);
    if (id > 0) return 0;
    printf("%ld\n", slow(n));
}
