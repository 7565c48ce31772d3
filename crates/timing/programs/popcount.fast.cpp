#include <iostream>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    long t = 0; for (int r = 0; r < 4; r++) for (int i = 0; i < n; i++) t += __builtin_popcount((unsigned)rnd()); cout << t;
}
