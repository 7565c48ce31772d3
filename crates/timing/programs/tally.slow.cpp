#include <iostream>
#include <string>
#include <map>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    string s; for (int i = 0; i < n; i++) s += 'a' + rnd() % 26; map<char, int> m; for (char c : s) m[c]++; cout << m['q'];
}
