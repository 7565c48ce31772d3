#include <iostream>
#include <cmath>
using namespace std;
int main() {
    int n; cin >> n;
    double t = 0; for (int i = 0; i < n; i++) t += sin(i * 1e-3) * cos(i * 1e-3); cout << t;
}
