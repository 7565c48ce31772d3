#include <iostream>
#include <sstream>
#include <cstdio>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 0; i < n; i++) { char b[40]; t += snprintf(b, 40, "%d:%d", i, i * 3); } cout << t;
}
