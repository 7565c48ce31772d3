#include <iostream>
#include <complex>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) { double a = 0, b = 0, u = x * 3.0 / n - 2, v = y * 2.0 / n - 1; int k = 0; while (k < 100 && a * a + b * b < 4) { double c = a * a - b * b + u; b = 2 * a * b + v; a = c; k++; } t += k; } cout << t;
}
