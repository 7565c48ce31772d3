#include <iostream>
#include <vector>
#include <string>
using namespace std;
int main() {
    int n; cin >> n;
    string t(n, 'a'), p(60, 'a'); p[59] = 'b'; for (int i = 100; i < n; i += 997) t[i] = 'b'; long c = 0;
    for (size_t i = 0; i + p.size() <= t.size(); i++) { bool ok = true; for (size_t j = 0; j < p.size(); j++) if (t[i + j] != p[j]) { ok = false; break; } c += ok; }
    cout << c;
}
