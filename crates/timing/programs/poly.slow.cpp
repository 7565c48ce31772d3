#include <iostream>
#include <cmath>
using namespace std;
int main() {
    int n; cin >> n;
    double t = 0; for (int i = 0; i < n; i++) { double x = i * 1e-7; t += 1 + x + pow(x, 2) + pow(x, 3) + pow(x, 4); } cout << t;
}
