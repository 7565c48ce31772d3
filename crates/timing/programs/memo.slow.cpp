#include <iostream>
#include <map>
#include <unordered_map>
using namespace std;
template <class M> static long go(M &m, long x) { if (x < 2) return 1; auto p = m.find(x); if (p != m.end()) return p->second; long r = go(m, x / 2) + go(m, x / 3) + go(m, x / 5); return m[x] = r; }
int main() {
    int n; cin >> n; n *= 1000; map<long, long> m; cout << go(m, (long)n * 1000000007);
}
