// Cheap work with a rare burst of dear work: 50,000 instructions in every two million or so.
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
    std::vector<uint32_t> far(1 << 22);
    for (size_t i = 0; i < far.size(); i++) far[i] = (uint32_t)(i * 2654435761u);
    uint64_t sum = 0;
    uint32_t at = 0;
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 700000; i++) sum += (uint64_t)i * i ^ round;
        for (int i = 0; i < 10000; i++) at = far[(at + i) & (far.size() - 1)], sum += at;
    }
    printf("%llu\n", (unsigned long long)sum);
}
