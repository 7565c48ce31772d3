#include <iostream>
#include <cstdio>
using namespace std;
int main() {
    static char b[1 << 16]; long t = 0; size_t k; while ((k = fread(b, 1, sizeof b, stdin))) for (size_t i = 0; i < k; i++) t += b[i]; printf("%ld", t);
}
