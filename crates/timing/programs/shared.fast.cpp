#include <iostream>
#include <vector>
#include <memory>
using namespace std;
int main() {
    int n; cin >> n;
    vector<int> v; for (int i = 0; i < n; i++) v.push_back(i); long t = 0; for (int r = 0; r < 60; r++) { auto w = v; for (int p : w) t += p ^ r; } cout << t;
}
