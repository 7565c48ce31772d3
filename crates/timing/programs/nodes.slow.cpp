#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
struct T { int k; T *l, *r; };
int main() {
    int n; cin >> n;
    T *r = nullptr; for (int i = 0; i < n; i++) { int k = rnd() % 1000000; T **p = &r; while (*p && (*p)->k != k) p = k < (*p)->k ? &(*p)->l : &(*p)->r; if (!*p) *p = new T{k, nullptr, nullptr}; } long t = 0; for (int i = 0; i < n; i++) { int k = rnd() % 1000000; T *p = r; while (p && p->k != k) p = k < p->k ? p->l : p->r; t += p != nullptr; } cout << t;
}
