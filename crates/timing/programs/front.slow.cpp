#include <iostream>
#include <vector>
#include <deque>
using namespace std;
int main() {
    int n; cin >> n;
    vector<int> v; for (int i = 0; i < n; i++) v.insert(v.begin(), i); cout << v[n / 2];
}
