#include <iostream>
#include <vector>
#include <queue>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    n *= 20; vector<vector<pair<int,int>>> g(n); for (int i = 0; i < 5 * n; i++) g[rnd() % n].push_back({(int)(rnd() % n), (int)(rnd() % 100 + 1)});
    vector<int> d(n, 1 << 29); d[0] = 0; priority_queue<pair<int,int>> q; q.push({0, 0});
    while (!q.empty()) { auto [k, b] = q.top(); q.pop(); if (-k != d[b]) continue; for (auto [t, w] : g[b]) if (d[b] + w < d[t]) { d[t] = d[b] + w; q.push({-d[t], t}); } }
    long s = 0; for (int x : d) s += x; cout << s;
}
