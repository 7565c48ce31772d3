#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v; for (int i = 0; i < n; i++) { int x = rnd() % 1000000; v.insert(upper_bound(v.begin(), v.end(), x), x); }
    cout << v[n / 3];
}
