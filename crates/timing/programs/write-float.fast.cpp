#include <iostream>
#include <iomanip>
#include <cstdio>
using namespace std;
int main() {
    int n; scanf("%d", &n); for (int i = 1; i <= n; i++) printf("%.12g\n", 1.0 / i);
}
