#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; vector<char> v(4 << 20); for (int i = 0; i < n; i++) { fill(v.begin(), v.end(), i); t += v[i * 100]; } cout << t;
}
