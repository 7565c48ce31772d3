// Three phases, one behind the other: streaming, chasing pointers, branching on noise.
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
    const uint32_t n = 1 << 21;
    std::vector<uint32_t> next(n);
    uint64_t sum = 0;
    for (int round = 0; round < 12; round++)
        for (uint32_t i = 0; i < n; i++) sum += next[i] = i * 7 + round;
    // One cycle through all of them, far apart.
    for (uint32_t i = 0; i < n; i++) next[i] = (i + 1048573u * 3) & (n - 1);
    uint32_t at = 0;
    for (int i = 0; i < 1500000; i++) at = next[at];
    uint32_t noise = 1;
    for (int i = 0; i < 8000000; i++) {
        noise = noise * 1664525u + 1013904223u;
        if (noise >> 31) sum += noise; else sum ^= at;
    }
    printf("%llu\n", (unsigned long long)sum);
}
