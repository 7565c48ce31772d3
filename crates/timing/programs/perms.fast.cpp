#include <iostream>
#include <vector>
#include <algorithm>
#include <numeric>
using namespace std;
static long go(int n, vector<int> v, vector<char> u) {
    if ((int)v.size() == n) return v[0] < v[n - 1];
    long c = 0;
    for (int i = 0; i < n; i++) if (!u[i]) { v.push_back(i); u[i] = 1; c += go(n, v, u); v.pop_back(); u[i] = 0; }
    return c;
}
int main() {
    int n; cin >> n; vector<int> v(n); iota(v.begin(), v.end(), 0); long c = 0; do c += v[0] < v[n - 1]; while (next_permutation(v.begin(), v.end())); cout << c;
}
