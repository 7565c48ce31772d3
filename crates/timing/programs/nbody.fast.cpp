#include <iostream>
#include <vector>
#include <array>
#include <cmath>
using namespace std;
int main() {
    int n; cin >> n;
    double p[5][6]; for (int i = 0; i < 5; i++) for (int k = 0; k < 6; k++) p[i][k] = i * 1.3 + k * 0.7; for (int s = 0; s < n; s++) { for (int i = 0; i < 5; i++) for (int j = i + 1; j < 5; j++) { double x = p[i][0] - p[j][0], y = p[i][1] - p[j][1], z = p[i][2] - p[j][2], d = x * x + y * y + z * z; d = 1e-4 / (sqrt(d) * (d + 0.1)); p[i][3] -= x * d; p[i][4] -= y * d; p[i][5] -= z * d; p[j][3] += x * d; p[j][4] += y * d; p[j][5] += z * d; } for (auto &b : p) for (int k = 0; k < 3; k++) b[k] += b[k + 3] * 1e-4; } cout << p[0][0];
}
