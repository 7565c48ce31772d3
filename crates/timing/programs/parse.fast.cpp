#include <iostream>
#include <string>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 0; i < n; i++) { char b[12]; int x = rnd() % 1000000, k = 12; do b[--k] = 48 + x % 10; while (x /= 10); int y = 0; while (k < 12) y = y * 10 + b[k++] - 48; t += y; } cout << t;
}
