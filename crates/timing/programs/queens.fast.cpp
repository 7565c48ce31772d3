#include <iostream>
#include <vector>
using namespace std;
static int go(int n, vector<int> &c) {
    if ((int)c.size() == n) return 1;
    int t = 0, r = c.size();
    for (int x = 0; x < n; x++) { bool ok = true; for (int i = 0; i < r; i++) if (c[i] == x || abs(c[i] - x) == r - i) ok = false; if (ok) { c.push_back(x); t += go(n, c); c.pop_back(); } }
    return t;
}
static int bits(int all, int c, int d, int e) {
    if (c == all) return 1;
    int t = 0;
    for (int p = all & ~(c | d | e); p; p &= p - 1) { int b = p & -p; t += bits(all, c | b, (d | b) << 1, (e | b) >> 1); }
    return t;
}
int main() {
    int n; cin >> n; cout << bits((1 << (n + 2)) - 1, 0, 0, 0);
}
