#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;
int main() {
    int n; cin >> n;
    n *= 60; vector<int> v(n); for (int i = 0; i < n; i++) v[i] = i; v.erase(remove_if(v.begin(), v.end(), [](int x) { return x % 3 == 0; }), v.end()); cout << v.size();
}
