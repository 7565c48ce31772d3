#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int r = 0; r < 6; r++) for (int i = 0; i < n; i++) { int p[16]; p[3] = i; asm volatile("" : : "r"(p) : "memory"); t += p[3]; } cout << t;
}
