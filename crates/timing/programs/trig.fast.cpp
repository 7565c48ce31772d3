#include <iostream>
#include <cmath>
using namespace std;
int main() {
    int n; cin >> n;
    double s = 0, c = 1, a = sin(1e-3), b = cos(1e-3), t = 0; for (int r = 0; r < 4; r++) for (int i = 0; i < n; i++) { t += s * c; double u = s * b + c * a; c = c * b - s * a; s = u; } cout << t;
}
