#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n; vector<char> v(1 << 25, 1); long t = 0; for (int r = 0; r < n; r++) for (size_t i = 0; i < v.size(); i += 8) t += v[i]; cout << t;
}
