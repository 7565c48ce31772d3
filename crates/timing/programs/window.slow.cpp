#include <iostream>
#include <vector>
#include <deque>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    n *= 10; int k = 1000; vector<int> v(n); for (int &x : v) x = rnd() % 1000000; long t = 0; for (int i = 0; i + k <= n; i++) { int m = 0; for (int j = 0; j < k; j++) if (v[i + j] > m) m = v[i + j]; t += m; } cout << t;
}
