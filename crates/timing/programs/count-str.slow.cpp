#include <iostream>
#include <map>
#include <unordered_map>
#include <string>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n, k; cin >> n >> k; map<string, int> m; for (int i = 0; i < n; i++) m[to_string(rnd() % k)]++; long t = 0; for (auto &p : m) t += p.second % 7; cout << t;
}
