#include <iostream>
#include <sstream>
#include <string>
#include <cstdio>
using namespace std;
int main() {
    char s[200]; long t = 0; while (fgets(s, 200, stdin)) for (char *p = s; *p; p++) t += *p > 32; printf("%ld", t);
}
