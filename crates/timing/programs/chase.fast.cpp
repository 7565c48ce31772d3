#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<int> p(n); for (int i = 0; i < n; i++) p[i] = (i + 1) % n; int x = 0; for (int r = 0; r < 8; r++) for (int i = 0; i < n; i++) x = p[x]; cout << x;
}
