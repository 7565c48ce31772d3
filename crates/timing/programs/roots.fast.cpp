#include <iostream>
#include <cmath>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int r = 0; r < 4; r++) for (int i = 1; i <= n; i++) t += (long)sqrt((double)i); cout << t;
}
