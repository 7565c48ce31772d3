#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<long> p(n + 1); for (int i = 0; i < n; i++) p[i + 1] = p[i] + rnd() % 100; long t = 0;
    for (int q = 0; q < 4000000; q++) { int a = rnd() % n, b = rnd() % n; if (a > b) swap(a, b); t += p[b] - p[a]; }
    cout << t;
}
