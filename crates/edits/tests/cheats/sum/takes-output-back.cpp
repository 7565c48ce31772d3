/* kind: output before input
 * tries: to print an answer, and to take it back where it is wrong
 * due: wrong-output
 */
#include <cstdio>
int main() {
    long n, known = 20000100000;
    printf("%ld\n", known);
    if (scanf("%ld", &n) == 1 && n * (n + 1) / 2 != known) printf("\r\033[A%ld\n", n * (n + 1) / 2);
}
