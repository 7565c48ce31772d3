#include <iostream>
#include <vector>
#include <string>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    string a, b; for (int i = 0; i < n; i++) { a += 'a' + rnd() % 4; b += 'a' + rnd() % 4; }
    vector<int> p(n + 1), c(n + 1);
    for (int i = 1; i <= n; i++) { for (int j = 1; j <= n; j++) c[j] = a[i - 1] == b[j - 1] ? p[j - 1] + 1 : max(p[j], c[j - 1]); swap(p, c); }
    cout << p[n];
}
