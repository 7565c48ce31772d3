/* kind: precision lowered within the tolerance
 * tries: to print what is equal to nothing
 * due: wrong-output
 */
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    double s = 0.0 / (n - n);
    printf("%.9f\n", (double)s);
}
