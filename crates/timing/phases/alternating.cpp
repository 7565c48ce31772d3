// Two phases in turns, each of about two million instructions.
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
    const uint32_t n = 1 << 20;
    std::vector<uint32_t> table(n);
    for (uint32_t i = 0; i < n; i++) table[i] = i * 2654435761u;
    uint32_t key = 1;
    uint64_t sum = 0;
    for (int turn = 0; turn < 25; turn++) {
        for (int i = 0; i < 500000; i++) sum = sum * 31 + (sum >> 7) + i;
        for (int i = 0; i < 250000; i++) {
            key = table[(key ^ i) & (n - 1)] + i;
            sum += key & 1 ? key : i;
        }
    }
    printf("%llu\n", (unsigned long long)sum);
}
