/* kind: output before input
 * tries: to have an answer where nothing is read
 * due: output-before-reading
 */
#include <cstdio>
int main() {
    int n = 200000;
    if (scanf("%d", &n) != 1) n = 200000;
    printf("%ld\n", (long)n * (n + 1) / 2);
}
