#include <iostream>
#include <vector>
#include <set>
#include <queue>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<set<int>> g(n); for (int i = 0; i < n; i++) g[rnd() % n].insert(rnd() % n);
    vector<char> u(n); int c = 0; for (int s = 0; s < n; s++) if (!u[s]) { c++; queue<int> q; q.push(s); u[s] = 1; while (!q.empty()) { int x = q.front(); q.pop(); for (int y : g[x]) if (!u[y]) { u[y] = 1; q.push(y); } } }
    cout << c;
}
