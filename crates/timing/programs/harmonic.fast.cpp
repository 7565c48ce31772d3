#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    double s = 0, u = 0, v = 0, w = 0; for (int i = 1; i + 3 <= n; i += 4) { s += 1.0 / i; u += 1.0 / (i + 1); v += 1.0 / (i + 2); w += 1.0 / (i + 3); } cout << s + u + v + w;
}
