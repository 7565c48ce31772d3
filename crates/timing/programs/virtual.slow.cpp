#include <iostream>
#include <vector>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
struct B { virtual long f(long) = 0; };
struct X : B { long f(long x) override { return x + 3; } };
struct Y : B { long f(long x) override { return x ^ 5; } };
struct Z : B { long f(long x) override { return x * 7; } };
int main() {
    int n; cin >> n;
    vector<B *> v; for (int i = 0; i < 1000; i++) switch (rnd() % 3) { case 0: v.push_back(new X); break; case 1: v.push_back(new Y); break; default: v.push_back(new Z); } long t = 1; for (int i = 0; i < n; i++) t = v[rnd() % 1000]->f(t); cout << t;
}
