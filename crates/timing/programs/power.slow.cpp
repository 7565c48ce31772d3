#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    unsigned long t = 0;
    for (int i = 1; i <= n; i++) { unsigned long r = 1; for (int k = 0; k < 3000; k++) r = r * i % 1000000007; t += r; }
    cout << t;
}
