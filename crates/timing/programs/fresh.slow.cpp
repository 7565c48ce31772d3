#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 0; i < n; i++) { vector<char> v(4 << 20); t += v[i * 100]; v[i] = 1; } cout << t;
}
