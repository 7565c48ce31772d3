#include <iostream>
#include <vector>
#include <unordered_map>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    n *= 20; vector<int> v(n); for (int &x : v) x = rnd() % 100000; unordered_map<int, int> m; long c = 0;
    for (int x : v) { auto p = m.find(100000 - x); if (p != m.end()) c += p->second; m[x]++; }
    cout << c;
}
