#include <iostream>
#include <list>
#include <vector>
using namespace std;
int main() {
    int n; cin >> n;
    vector<int> l; for (int i = 0; i < n; i++) l.push_back(i); volatile long t = 0; for (int r = 0; r < 200; r++) for (int x : l) t += x; cout << t;
}
