#include <iostream>
#include <vector>
#include <queue>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<vector<pair<int,int>>> g(n); for (int i = 0; i < 5 * n; i++) g[rnd() % n].push_back({(int)(rnd() % n), (int)(rnd() % 100 + 1)});
    vector<int> d(n, 1 << 29); vector<char> u(n); d[0] = 0;
    for (int r = 0; r < n; r++) { int b = -1; for (int i = 0; i < n; i++) if (!u[i] && (b < 0 || d[i] < d[b])) b = i; u[b] = 1; for (auto [t, w] : g[b]) d[t] = min(d[t], d[b] + w); }
    long s = 0; for (int x : d) s += x; cout << s;
}
