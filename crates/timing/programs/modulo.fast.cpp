#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    unsigned long x = 1, t = 0; for (int r = 0; r < 4; r++) for (int i = 0; i < n; i++) { x = (x * 48271 + i) & 0x3fffffff; t += x; } cout << t;
}
