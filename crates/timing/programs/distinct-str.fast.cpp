#include <iostream>
#include <set>
#include <vector>
#include <string>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n, k; cin >> n >> k; vector<string> v; for (int i = 0; i < n; i++) v.push_back(to_string(rnd() % k)); sort(v.begin(), v.end()); cout << unique(v.begin(), v.end()) - v.begin();
}
