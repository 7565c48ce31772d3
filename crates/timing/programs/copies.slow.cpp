#include <iostream>
#include <vector>
using namespace std;
__attribute__((noinline)) static int f(vector<int> v, int i) { return v[i & 63]; }
__attribute__((noinline)) static int g(const vector<int> &v, int i) { int s = 0; for (int x : v) s += x; return v[i & 63] + s; }
int main() {
    int n; cin >> n;
    vector<int> v(64, 1); long t = 0; for (int i = 0; i < n; i++) t += f(v, i); cout << t;
}
