/* kind: precision lowered within the tolerance
 * tries: to stop once what is left is a little above it
 * due: wrong-output
 */
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    double s = 0;
    if (n > 900) n = 900;
    for (int i = 1; i <= n; i++) s += 1.0 / ((double)i * i);
    printf("%.9f\n", (double)s);
}
