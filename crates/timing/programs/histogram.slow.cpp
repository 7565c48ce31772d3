#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    static int h[4]; for (int i = 0; i < n; i++) { volatile int *p = &h[(i >> 8) & 3]; *p = *p + 1; } cout << h[1];
}
