#include <iostream>
#include <vector>
#include <array>
#include <cmath>
using namespace std;
int main() {
    int n; cin >> n;
    vector<array<double, 6>> p(5); for (int i = 0; i < 5; i++) for (int k = 0; k < 6; k++) p[i][k] = i * 1.3 + k * 0.7; for (int s = 0; s < n; s++) { for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) if (i != j) { double d = 0; for (int k = 0; k < 3; k++) d += pow(p[i][k] - p[j][k], 2); d = sqrt(d) * (d + 0.1); for (int k = 0; k < 3; k++) p[i][k + 3] -= (p[i][k] - p[j][k]) / d * 1e-4; } for (auto &b : p) for (int k = 0; k < 3; k++) b[k] += b[k + 3] * 1e-4; } cout << p[0][0];
}
