#include <iostream>
#include <set>
#include <queue>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    priority_queue<int, vector<int>, greater<int>> q; long t = 0; for (int i = 0; i < n; i++) { q.push(rnd() % 1000000); if (i % 3 == 2) { t += q.top(); q.pop(); } } cout << t;
}
