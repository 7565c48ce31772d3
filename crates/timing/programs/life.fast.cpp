#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    int w = n + 2; vector<char> g(w * w), h = g; for (int i = 1; i <= n; i++) for (int j = 1; j <= n; j++) g[i * w + j] = rnd() % 2; for (int s = 0; s < 100; s++) { for (int i = 1; i <= n; i++) for (int j = 1; j <= n; j++) { char *p = &g[i * w + j]; char c = p[-w - 1] + p[-w] + p[-w + 1] + p[-1] + p[1] + p[w - 1] + p[w] + p[w + 1]; h[i * w + j] = (c == 3) | ((c == 2) & *p); } swap(g, h); } int t = 0; for (char x : g) t += x; cout << t;
}
