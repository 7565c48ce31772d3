#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    unsigned long t = 0;
    for (int q = 0; q < 60; q++) for (int i = 1; i <= n; i++) { unsigned long r = 1, b = i; for (int k = 3000; k; k >>= 1) { if (k & 1) r = r * b % 1000000007; b = b * b % 1000000007; } t += r; }
    cout << t;
}
