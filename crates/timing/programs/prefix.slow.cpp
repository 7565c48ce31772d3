#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v(n); for (int &x : v) x = rnd() % 100; long t = 0;
    for (int q = 0; q < 20000; q++) { int a = rnd() % n, b = rnd() % n; if (a > b) swap(a, b); for (int i = a; i < b; i++) t += v[i] ^ (q & 1); }
    cout << t;
}
