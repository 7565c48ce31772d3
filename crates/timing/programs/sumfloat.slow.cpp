#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<float> v(n, 0.5f); float s = 0; for (int r = 0; r < 6; r++) for (float x : v) s += x; cout << s;
}
