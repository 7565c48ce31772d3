#include <iostream>
#include <sstream>
#include <string>
#include <cstdio>
using namespace std;
int main() {
    string s; long t = 0; while (getline(cin, s)) { stringstream w(s); string x; while (w >> x) t += x.size(); } cout << t;
}
