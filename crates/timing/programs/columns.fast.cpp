#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<vector<int>> d(n, vector<int>(n, 1)); volatile long q = 0; for (int r = 0; r < 12; r++) for (int i = 0; i < n; i++) { long t = 0; for (int j = 0; j < n; j++) t += d[i][j] ^ r; q += t; } cout << q;
}
