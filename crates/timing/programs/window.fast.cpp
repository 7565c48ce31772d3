#include <iostream>
#include <vector>
#include <deque>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    n *= 800; int k = 1000; deque<pair<int,int>> d; long t = 0; for (int i = 0; i < n; i++) { int x = rnd() % 1000000; while (!d.empty() && d.back().first <= x) d.pop_back(); d.push_back({x, i}); if (d.front().second <= i - k) d.pop_front(); t += d.front().first; } cout << t;
}
