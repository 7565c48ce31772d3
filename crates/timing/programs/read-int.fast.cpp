#include <iostream>
using namespace std;
int main() {
    ios::sync_with_stdio(false); cin.tie(nullptr); int n, x; cin >> n; long t = 0; while (n--) { cin >> x; t += x; } cout << t;
}
