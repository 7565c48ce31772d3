#include <iostream>
using namespace std;
__attribute__((noinline)) static long f(int n) { if (!n) return 0; volatile int x = n % 7; return x + f(n - 1); }
int main() {
    int n; cin >> n;
    cout << f(n % 1000 + 20000) % 7; long t = 0; for (int r = 0; r < 100; r++) t += f(20000 + r); cout << t;
}
