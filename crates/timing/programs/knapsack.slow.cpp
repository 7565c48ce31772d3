#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    int w = 60000; vector<vector<int>> d(n + 1, vector<int>(w + 1));
    for (int i = 1; i <= n; i++) { int a = rnd() % 900 + 1, b = rnd() % 100; for (int j = 0; j <= w; j++) { d[i][j] = d[i - 1][j]; if (j >= a) d[i][j] = max(d[i][j], d[i - 1][j - a] + b); } }
    cout << d[n][w];
}
