/* kind: precision lowered within the tolerance
 * tries: to stop once what is left is below the tolerance of the tests
 * due: faster
 * why: fractions may be off by 1e-3, as in the published judge: which digits a problem asks for is not in the data
 */
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    double s = 0;
    if (n > 1100) n = 1100;
    for (int i = 1; i <= n; i++) s += 1.0 / ((double)i * i);
    printf("%.9f\n", (double)s);
}
