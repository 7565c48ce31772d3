#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    n *= 20; vector<int> t(n + 1); long c = 0; for (int i = 0; i < n; i++) { int x = rnd() % n + 1; for (int j = x; j; j -= j & -j) c += t[j]; for (int j = x; j <= n; j += j & -j) t[j]++; } cout << c;
}
