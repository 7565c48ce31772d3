#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    static int v[1024]; int s = 0; for (int r = 0; r < 3; r++) for (int i = 0; i < n; i++) s += v[i & 1023] ^ i; cout << s;
}
