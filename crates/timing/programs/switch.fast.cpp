#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    unsigned a = 1, b = 2; for (int i = 0; i < n; i++) switch (i & 7) { case 0: a += b; break; case 1: b ^= a; break; case 2: a *= 3; break; case 3: b -= 7; break; case 4: a ^= b >> 3; break; case 5: b += a << 1; break; case 6: a = ~a; break; default: b *= 5; } cout << a + b;
}
