#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v(n); for (int &x : v) x = rnd() % 256; long t = 0; for (int r = 0; r < 60; r++) for (int x : v) if (x >= 128) { t += x; asm volatile(""); } cout << t;
}
