// A working set that doubles from 4 KiB to 32 MiB: every level of the caches in turn.
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
    std::vector<uint32_t> data(1 << 23);
    for (size_t i = 0; i < data.size(); i++) data[i] = (uint32_t)i * 40503u;
    uint64_t sum = 0;
    for (uint32_t size = 1 << 10; size <= data.size(); size *= 2)
        for (uint32_t i = 0, at = 1; i < 400000; i++) {
            at = at * 1664525u + 1013904223u;
            sum += data[at >> 8 & (size - 1)];
        }
    printf("%llu\n", (unsigned long long)sum);
}
