#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<char> s(n + 1, 1); int c = 0;
    for (long i = 2; i <= n; i++) if (s[i]) { c++; for (long j = i * i; j <= n; j += i) s[j] = 0; }
    cout << c;
}
