#include <iostream>
#include <cstdio>
using namespace std;
int main() {
    char c; long t = 0; while (cin.get(c)) t += c; cout << t;
}
