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
    vector<char> v; for (int i = 0; i < 1000; i++) v.push_back(rnd() % 3); long t = 1; for (int i = 0; i < n; i++) { char c = v[rnd() % 1000]; t = c == 0 ? t + 3 : c == 1 ? t ^ 5 : t * 7; } cout << t;
}
