#include <iostream>
#include <string>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    n *= 20; string s; for (int i = 0; i < n; i++) s += 'a' + rnd() % 2; long c = 0; for (int r = 0; r < 60; r++) for (int m = 0; m < n; m++) for (int k = 0; k < 2; k++) { int i = m, j = m + k; while (i >= 0 && j < n && s[i] == s[j] && j - i < 40) c++, i--, j++; } cout << c;
}
