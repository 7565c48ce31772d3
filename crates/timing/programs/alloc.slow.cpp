#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 0; i < n; i++) { int *p = new int[16]; p[3] = i; asm volatile("" : : "r"(p) : "memory"); t += p[3]; delete[] p; } cout << t;
}
