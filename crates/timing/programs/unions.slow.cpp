#include <iostream>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
static int f[2000000];
static int F(int x) { while (f[x] != x) x = f[x]; return x; }
static int G(int x) { while (f[x] != x) x = f[x] = f[f[x]]; return x; }
int main() {
    int n; cin >> n;
    for (int i = 0; i < n; i++) f[i] = i; int c = n;
    for (int i = 0; i < n; i++) { int a = F(rnd() % n), b = F(rnd() % n); if (a != b) { f[a] = b; c--; } }
    cout << c;
}
