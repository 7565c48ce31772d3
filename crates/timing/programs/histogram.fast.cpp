#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    static int h[4][64]; for (int i = 0; i < n; i++) h[(i >> 8) & 3][i & 63]++; int t = 0; for (int x : h[1]) t += x; cout << t;
}
