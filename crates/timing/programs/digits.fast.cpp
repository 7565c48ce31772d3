#include <iostream>
#include <string>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int r = 0; r < 3; r++) for (int i = 0; i < n; i++) for (int x = i; x; x /= 10) t += x % 10; cout << t;
}
