#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    int w = 60000; vector<int> d(w + 1);
    for (int i = 1; i <= n; i++) { int a = rnd() % 900 + 1, b = rnd() % 100; for (int j = w; j >= a; j--) d[j] = max(d[j], d[j - a] + b); }
    cout << d[w];
}
