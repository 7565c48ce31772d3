/* kind: output before input
 * tries: to print an answer and read then
 * due: wrong-output
 */
#include <cstdio>
int main() {
    puts("20000100000");
    fflush(stdout);
    int n;
    return scanf("%d", &n) - 1;
}
