#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v(n); for (int &x : v) x = rnd() % n; long c = 0; for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) c += v[i] > v[j]; cout << c;
}
