#include <iostream>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 0; i < n; i++) { unsigned x = rnd(); while (x) { t += x & 1; x >>= 1; } } cout << t;
}
