#include <cstdio>
using namespace std;
int main() {
    auto get = [] { int c = getchar_unlocked(), x = 0; while (c < 48) c = getchar_unlocked(); while (c >= 48) { x = x * 10 + c - 48; c = getchar_unlocked(); } return x; }; int n = get(); long t = 0; while (n--) t += get(); printf("%ld", t);
}
