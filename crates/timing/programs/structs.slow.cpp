#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    struct P { double x, y, z, pad[13]; }; vector<P> v(n); for (int r = 0; r < 6; r++) for (auto &p : v) p.x += 1.5; cout << v[n / 2].x;
}
