#include <iostream>
#include <iomanip>
#include <cstdio>
using namespace std;
int main() {
    int n; cin >> n; for (int i = 1; i <= n; i++) cout << setprecision(12) << 1.0 / i << endl;
}
