#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    unsigned c = ~0u; for (int i = 0; i < n; i++) { c ^= i & 255; for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0); } cout << c;
}
