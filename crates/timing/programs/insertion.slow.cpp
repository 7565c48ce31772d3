#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v; for (int i = 0; i < n; i++) { int x = rnd() % 1000000; size_t j = v.size(); v.push_back(x); while (j && v[j - 1] > x) { v[j] = v[j - 1]; j--; } v[j] = x; }
    cout << v[n / 3];
}
