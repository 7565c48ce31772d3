#include <iostream>
#include <vector>
#include <array>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<array<int, 16>> v(1 << 18); long t = 0; for (int i = 0; i < n; i++) t += v[rnd() & ((1 << 18) - 1)][3]; cout << t;
}
