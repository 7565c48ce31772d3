#include <iostream>
#include <string>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<string> v; for (int i = 0; i < n; i++) { string w; for (int k = rnd() % 9 + 1; k--;) w += 'a' + rnd() % 26; v.push_back(w); } sort(v.begin(), v.end(), [](const string &a, const string &b) { return a < b; }); cout << v[n / 2];
}
