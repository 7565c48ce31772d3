#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v(n); for (int &x : v) x = (int)(rnd() % 2001) - 1000; long best = 0;
    for (int i = 0; i < n; i++) { long s = 0; for (int j = i; j < n; j++) { s += v[j]; best = max(best, s); } }
    cout << best;
}
