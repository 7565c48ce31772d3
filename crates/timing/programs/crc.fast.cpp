#include <iostream>
using namespace std;
int main() {
    int n; cin >> n;
    unsigned t[256]; for (unsigned i = 0; i < 256; i++) { unsigned c = i; for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0); t[i] = c; } unsigned c = ~0u; for (int r = 0; r < 4; r++) for (int i = 0; i < n; i++) c = c >> 8 ^ t[(c ^ i) & 255]; cout << c;
}
