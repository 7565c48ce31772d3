#include <iostream>
#include <vector>
#include <memory>
using namespace std;
int main() {
    int n; cin >> n;
    vector<shared_ptr<int>> v; for (int i = 0; i < n; i++) v.push_back(make_shared<int>(i)); long t = 0; for (int r = 0; r < 6; r++) { auto w = v; for (auto p : w) t += *p; } cout << t;
}
