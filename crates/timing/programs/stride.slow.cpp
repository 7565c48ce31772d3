#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n; vector<char> v(1 << 25, 1); long t = 0; for (int r = 0; r < n; r++) for (int o = 0; o < 64; o += 8) for (size_t i = o; i < v.size(); i += 64) t += v[i]; cout << t;
}
