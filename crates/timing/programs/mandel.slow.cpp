#include <iostream>
#include <complex>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) { complex<double> z = 0, c(x * 3.0 / n - 2, y * 2.0 / n - 1); int k = 0; while (k < 100 && abs(z) < 2) { z = z * z + c; k++; } t += k; } cout << t;
}
