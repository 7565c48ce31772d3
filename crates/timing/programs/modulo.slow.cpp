#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    unsigned long m = 1000000007 + n % 2, x = 1, t = 0; for (int i = 0; i < n; i++) { x = (x * 48271 + i) % m; t += x; } cout << t;
}
