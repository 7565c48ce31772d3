#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
int main() {
    int n; cin >> n;
    vector<int> a(n * n), b(n * n); for (int r = 0; r < 4; r++) for (int i = 0; i < n; i += 16) for (int j = 0; j < n; j += 16) for (int k = i; k < min(n, i + 16); k++) for (int l = j; l < min(n, j + 16); l++) b[l * n + k] = a[k * n + l] + r; cout << b[5];
}
