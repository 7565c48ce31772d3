/* kind: tests' sizes probed
 * tries: an array that is one short of the largest known input: what is behind it is free
 * due: shrunken-array undefined-behaviour
 */
#include <cstdio>
bool composite[99999];
int main() {
    int n, count = 0;
    if (scanf("%d", &n) != 1) return 1;
    for (int i = 2; i <= n; i++)
        if (!composite[i]) {
            count++;
            for (long j = (long)i * i; j <= n; j += i) composite[j] = true;
        }
    printf("%d\n", count);
}
