#include <iostream>
#include <cmath>
using namespace std;
int main() {
    int n; cin >> n;
    double t = 0; for (int r = 0; r < 4; r++) for (int i = 0; i < n; i++) { double x = i * 1e-7; t += 1 + x * (1 + x * (1 + x * (1 + x))); } cout << t;
}
