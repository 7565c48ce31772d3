#include <iostream>
#include <set>
#include <vector>
#include <string>
#include <algorithm>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n, k; cin >> n >> k; set<int> m; for (int i = 0; i < n; i++) m.insert((int)(rnd() % k)); cout << m.size();
}
