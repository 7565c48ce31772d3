#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; vector<int> v; for (int i = 0; i < n; i++) { v.clear(); v.reserve(60000); for (int k = 0; k < 60000; k++) v.push_back(k); t += v[i]; } cout << t;
}
