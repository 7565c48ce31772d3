#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<vector<int>> d(n, vector<int>(n, 1)); volatile long q = 0; for (int r = 0; r < 3; r++) for (int j = 0; j < n; j++) { long t = 0; for (int i = 0; i < n; i++) t += d[i][j] ^ r; q += t; } cout << q;
}
