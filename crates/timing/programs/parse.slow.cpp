#include <iostream>
#include <string>
using namespace std;
static unsigned long long S=88172645463325252ull;
static inline unsigned long long rnd(){S^=S<<13;S^=S>>7;S^=S<<17;return S;}
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 0; i < n; i++) t += stoi(to_string(rnd() % 1000000)); cout << t;
}
