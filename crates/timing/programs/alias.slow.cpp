#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    struct A { int s; int v[1024]; }; static A a; for (int i = 0; i < n; i++) { volatile int *p = &a.s; *p = *p + a.v[i & 1023] + i; } cout << a.s;
}
