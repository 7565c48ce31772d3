#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<long> a(n * n, 3), b(n * n, 5), c(n * n); for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) c[i * n + j] = (c[i * n + j] + a[i * n + k] * b[k * n + j]) % 1000007; cout << c[7];
}
