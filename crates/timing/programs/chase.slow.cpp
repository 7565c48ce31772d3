#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> p(n), o(n); for (int i = 0; i < n; i++) o[i] = i; for (int i = n - 1; i > 0; i--) swap(o[i], o[rnd() % (i + 1)]); for (int i = 0; i < n; i++) p[o[i]] = o[(i + 1) % n]; int x = 0; for (int i = 0; i < n; i++) x = p[x]; cout << x;
}
