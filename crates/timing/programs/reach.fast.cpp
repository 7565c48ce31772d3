#include <iostream>
#include <vector>
#include <set>
#include <queue>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> h(n, -1), nx(n), to(n); for (int i = 0; i < n; i++) { int a = rnd() % n; to[i] = rnd() % n; nx[i] = h[a]; h[a] = i; }
    vector<char> u(n); vector<int> q; int c = 0; for (int s = 0; s < n; s++) if (!u[s]) { c++; q.push_back(s); u[s] = 1; while (!q.empty()) { int x = q.back(); q.pop_back(); for (int e = h[x]; e >= 0; e = nx[e]) if (!u[to[e]]) { u[to[e]] = 1; q.push_back(to[e]); } } }
    cout << c;
}
