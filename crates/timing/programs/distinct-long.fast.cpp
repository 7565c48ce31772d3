#include <iostream>
#include <set>
#include <vector>
#include <string>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n, k; cin >> n >> k; vector<long> v; for (int i = 0; i < n; i++) v.push_back((long)(rnd() % k) * 1000003); sort(v.begin(), v.end()); cout << unique(v.begin(), v.end()) - v.begin();
}
