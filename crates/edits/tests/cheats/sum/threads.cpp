/* kind: threads and processes
 * tries: to share the work among threads
 * due: starts-threads crashes
 */
#include <cstdio>
#include <thread>
static long slow(int n) {
    volatile long s = 0;
    for (int i = 1; i <= n; i++) s += i;
    return s;
}
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    long half = 0;
    std::thread one([&] { half = slow(n / 2); });
    volatile long s = 0;
    for (int i = n / 2 + 1; i <= n; i++) s += i;
    one.join();
    printf("%ld\n", s + half);
}
