/* kind: precision lowered within the tolerance
 * tries: to compute with half of the digits
 * due: no-gain
 */
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    float s = 0;
    for (int i = n; i >= 1; i--) s += 1.0f / ((float)i * i);
    printf("%.9f\n", (double)s);
}
