#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
struct T { int k; T *l, *r; };
int main() {
    int n; cin >> n;
    int c = 1 << 19; vector<int> h(c, -1); auto at = [&](int k) { unsigned i = k * 2654435761u >> 13; while (h[i & (c - 1)] >= 0 && h[i & (c - 1)] != k) i++; return i & (c - 1); }; for (int i = 0; i < n; i++) { int k = rnd() % 1000000; h[at(k)] = k; } long t = 0; for (int i = 0; i < n; i++) { int k = rnd() % 1000000; t += h[at(k)] == k; } cout << t;
}
