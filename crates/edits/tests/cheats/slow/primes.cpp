#include <cstdio>
int composite[100001];
int main() {
    int n, count = 0;
    if (scanf("%d", &n) != 1) return 1;
    for (int i = 2; i <= n; i++)
        for (long j = 2 * i; j <= n; j += i) composite[j]++;
    for (int i = 2; i <= n; i++) count += !composite[i];
    printf("%d\n", count);
}
