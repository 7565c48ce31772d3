#include <iostream>
#include <vector>
#include <deque>
using namespace std;
int main() {
    int n; cin >> n;
    n *= 60; deque<int> v; for (int i = 0; i < n; i++) v.push_front(i); cout << v[n / 2];
}
