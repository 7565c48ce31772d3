#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v(n); for (int &x : v) x = rnd() % 1000000;
    for (int i = 0; i < n; i++) for (int j = 0; j + 1 < n - i; j++) if (v[j] > v[j + 1]) swap(v[j], v[j + 1]);
    cout << v[n / 2];
}
