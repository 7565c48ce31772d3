#include <iostream>
using namespace std;
static long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
int main() {
    int n; cin >> n; long a = 0, b = 1; volatile long k = 2000000; for (long r = 0; r < k; r++) { a = 0; b = 1; for (int i = 0; i < n; i++) { long c = a + b; a = b; b = c; } } cout << a;
}
