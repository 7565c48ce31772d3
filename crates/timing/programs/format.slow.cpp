#include <iostream>
#include <sstream>
#include <cstdio>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 0; i < n; i++) { stringstream s; s << i << ":" << i * 3; t += s.str().size(); } cout << t;
}
