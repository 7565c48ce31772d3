#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    n *= 60; vector<long> s(n + 1); for (int d = 1; d <= n; d++) for (int i = d; i <= n; i += d) s[i] += d; long t = 0; for (long x : s) t += x; cout << t;
}
