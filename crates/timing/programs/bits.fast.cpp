#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<bool> v(n); for (int i = 0; i < n; i++) v[i] = rnd() % 2; long t = 0; for (int r = 0; r < 8; r++) t += count(v.begin(), v.end(), r & 1); cout << t;
}
