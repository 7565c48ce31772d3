#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
int main() {
    int n; cin >> n;
    vector<int> v(n); for (int i = 0; i < n; i++) v[i] = i; for (size_t i = 0; i < v.size();) if (v[i] % 3 == 0) v.erase(v.begin() + i); else i++; cout << v.size();
}
