#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    long best = 0; for (int r = 0; r < 400; r++) { long s = 0; for (int i = 0; i < n; i++) { s = max(0l, s + (int)(rnd() % 2001) - 1000); best = max(best, s); } }
    cout << best;
}
