#include <cstdio>
using namespace std;
int main() {
    int n, x; scanf("%d", &n); long t = 0; while (n--) { scanf("%d", &x); t += x; } printf("%ld", t);
}
