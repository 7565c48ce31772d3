#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v(n); for (int i = 0; i < n; i++) v[i] = i * 3; long t = 0;
    for (int q = 0; q < 30000; q++) { int x = rnd() % (3 * n); for (int i = 0; i < n; i++) if (v[i] == x) { t += i; break; } }
    cout << t;
}
