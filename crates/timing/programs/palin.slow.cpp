#include <iostream>
#include <string>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    string s; for (int i = 0; i < n; i++) s += 'a' + rnd() % 2; long c = 0; for (int i = 0; i < n; i++) for (int j = i; j < n; j++) { string u = s.substr(i, min(j - i + 1, 40)), v(u.rbegin(), u.rend()); c += u == v; } cout << c;
}
