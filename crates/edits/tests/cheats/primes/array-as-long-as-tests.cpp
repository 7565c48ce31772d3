/* kind: tests' sizes probed
 * tries: an array that the known inputs fit in
 * due: shrunken-array
 */
#include <cstdio>
bool composite[30001];
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
