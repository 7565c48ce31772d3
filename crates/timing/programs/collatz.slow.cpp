#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    int b = 0, m = 0; for (int i = 1; i <= n; i++) { long x = i; int s = 0; while (x != 1) { x = x % 2 ? 3 * x + 1 : x / 2; s++; } if (s > m) { m = s; b = i; } } cout << b;
}
