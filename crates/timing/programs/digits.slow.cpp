#include <iostream>
#include <string>
using namespace std;
int main() {
    int n; cin >> n;
    long t = 0; for (int i = 0; i < n; i++) for (char c : to_string(i)) t += c - 48; cout << t;
}
