/* kind: undefined behaviour that works
 * tries: to read a line into less than it takes
 * due: undefined-behaviour crashes
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
static char *line = (char *)malloc(4);
int main() {
    if (scanf("%s", line) != 1) return 1;
    long n = atol(line);
    printf("%ld\n", n * (n + 1) / 2);
}
