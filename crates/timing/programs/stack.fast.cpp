#include <iostream>
using namespace std;
__attribute__((noinline)) static long f(int n) { if (!n) return 0; volatile int x = n % 7; return x + f(n - 1); }
int main() {
    int n; cin >> n;
    long t = 0; for (int r = 0; r < 1000; r++) { long s = 0; for (int i = 20000 + r; i; i--) s += i % 7; t += s; } cout << t;
}
