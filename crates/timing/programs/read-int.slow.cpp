#include <iostream>
using namespace std;
int main() {
    int n, x; cin >> n; long t = 0; while (n--) { cin >> x; t += x; } cout << t;
}
