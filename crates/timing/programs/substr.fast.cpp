#include <iostream>
#include <vector>
#include <string>
using namespace std;
int main() {
    int n; cin >> n;
    n *= 10; string t(n, 'a'), p(60, 'a'); p[59] = 'b'; for (int i = 100; i < n; i += 997) t[i] = 'b'; long c = 0;
    vector<int> f(p.size()); for (size_t i = 1, k = 0; i < p.size(); i++) { while (k && p[i] != p[k]) k = f[k - 1]; if (p[i] == p[k]) k++; f[i] = k; }
    size_t k = 0; for (char x : t) { while (k && x != p[k]) k = f[k - 1]; if (x == p[k]) k++; if (k == p.size()) { c++; k = f[k - 1]; } }
    cout << c;
}
