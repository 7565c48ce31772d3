#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<long> a(n * n, 3), b(n * n, 5), c(n * n); for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { long s = 0; for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j]; c[i * n + j] = s % 1000007; } cout << c[7];
}
