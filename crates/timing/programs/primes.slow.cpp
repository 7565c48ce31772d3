#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    int c = 0;
    for (int i = 2; i <= n; i++) { bool p = true; for (int d = 2; (long)d * d <= i; d++) if (i % d == 0) { p = false; break; } c += p; }
    cout << c;
}
