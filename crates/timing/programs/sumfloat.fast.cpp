#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<float> v(n, 0.5f); float s[8] = {}; for (int r = 0; r < 6; r++) for (int i = 0; i + 8 <= n; i += 8) for (int k = 0; k < 8; k++) s[k] += v[i + k]; float t = 0; for (float x : s) t += x; cout << t;
}
