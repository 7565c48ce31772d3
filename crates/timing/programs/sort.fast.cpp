#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    n *= 40; vector<int> v(n); for (int &x : v) x = rnd() % 1000000;
    sort(v.begin(), v.end()); cout << v[n / 2];
}
