#include <iostream>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 1; i <= n; i++) for (int d = 1; d <= i; d++) if (i % d == 0) t += d; cout << t;
}
