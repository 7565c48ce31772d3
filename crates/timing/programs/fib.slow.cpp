#include <iostream>
using namespace std;
static long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
int main() {
    int n; cin >> n; cout << f(n);
}
