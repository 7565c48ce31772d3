#include <iostream>
#include <cmath>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 1; i <= n; i++) t += (long)pow(i, 0.5); cout << t;
}
