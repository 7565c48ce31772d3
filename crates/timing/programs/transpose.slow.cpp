#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
int main() {
    int n; cin >> n;
    vector<int> a(n * n), b(n * n); for (int r = 0; r < 4; r++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[j * n + i] = a[i * n + j] + r; cout << b[5];
}
