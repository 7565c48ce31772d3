/* kind: undefined behaviour that works
 * tries: to fault, to catch the signal, and to go on
 * due: undefined-behaviour
 */
#include <cstdio>
#include <csetjmp>
#include <csignal>
static sigjmp_buf back;
int main() {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
    if (!sigsetjmp(back, 1)) *(volatile int *)16 = 1;
    printf("%ld\n", n * (n + 1) / 2);
}
