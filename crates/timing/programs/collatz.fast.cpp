#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    n *= 5; vector<int> c(n + 1); int b = 1; for (int i = 2; i <= n; i++) { long x = i; int s = 0; while (x >= i) { x = x & 1 ? 3 * x + 1 : x >> 1; s++; } c[i] = s + c[x]; if (c[i] > c[b]) b = i; } cout << b;
}
