#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v(1 << 12); for (int i = 0; i < n; i++) v[rnd() & ((1 << 12) - 1)]++; long t = 0; for (int x : v) t += (long)x * x; cout << t;
}
