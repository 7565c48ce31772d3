#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    double s = 0;
    for (int i = 1; i <= n; i++) s += 1.0 / ((double)i * i);
    printf("%.9f\n", s);
}
