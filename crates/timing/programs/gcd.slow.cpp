#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    long t = 0;
    for (int i = 1; i <= n; i++) { long a = rnd() % 4000 + 1, b = rnd() % 4000 + 1; while (a != b) if (a > b) a -= b; else b -= a; t += a; }
    cout << t;
}
