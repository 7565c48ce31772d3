#include <iostream>
#include <string>
using namespace std;
int main() {
    int n; cin >> n;
    n *= 500; string s; for (int i = 0; i < n; i++) s += char('a' + i % 26); cout << s.size();
}
