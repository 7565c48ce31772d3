#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<double> x(n); for (int r = 0; r < 60; r++) for (double &p : x) p += 1.5; cout << x[n / 2];
}
