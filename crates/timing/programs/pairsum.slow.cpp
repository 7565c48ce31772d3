#include <iostream>
#include <vector>
#include <unordered_map>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    vector<int> v(n); for (int &x : v) x = rnd() % 100000; int c = 0;
    for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) c += v[i] + v[j] == 100000;
    cout << c;
}
