// Micro-benchmarks of the host for `stampmill time calibrate`: the best of many short tries each, so that
// some are not interrupted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

template <class F> static double best_ns(int tries, F work) {
    double best = 1e18;
    for (int i = 0; i < tries; i++) {
        auto from = std::chrono::steady_clock::now();
        work();
        std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - from;
        best = std::min(best, took.count());
    }
    return best;
}

int main() {
    // Products, three cycles each on every processor of the last ten years: some add constants while
    // they rename, several a cycle.
    const long products = 300'000, cycles = 3;
    double chain = best_ns(300, [] {
        long x = 1;
        // A chain long enough that the loop around it does not count.
        for (long i = 0; i < products; i += 100)
            asm volatile(".rept 100\n imul %0,%0\n .endr" : "+r"(x));
    });
    printf("clock_mhz %.1f\n", products * cycles / chain * 1000);

    struct Node { Node *next; size_t rest[7]; };
    for (size_t kib : {16, 128, 512, 2048, 4096, 8192, 16384, 32768, 131072}) {
        size_t count = kib * 1024 / sizeof(Node);
        std::vector<Node> nodes(count);
        std::vector<size_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
        for (size_t i = 0; i < count; i++)
            nodes[order[i]].next = &nodes[order[(i + 1) % count]];
        const long steps = 20'000;
        Node *at = &nodes[0];
        double took = best_ns(60, [&] {
            for (long i = 0; i < steps; i++)
                at = at->next;
            asm volatile("" : : "r"(at));
        });
        printf("load_ns %zu %.3f\n", kib, took / steps);
    }

    std::vector<long> big(8 << 20, 1);
    long sum = 0;
    double read = best_ns(20, [&] {
        for (long x : big)
            sum += x;
        asm volatile("" : : "r"(sum));
    });
    printf("read_bytes_per_ns %.3f\n", big.size() * sizeof(long) / read);

    const size_t bytes = 1 << 20;
    double faults = best_ns(100, [] {
        char *p = (char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; i < bytes; i += 4096)
            p[i] = 1;
        munmap(p, bytes);
    });
    printf("page_fault_ns %.1f\n", faults / (bytes / 4096));

    const int calls = 5'000;
    double called = best_ns(50, [] {
        for (int i = 0; i < calls; i++)
            syscall(SYS_getppid);
    });
    printf("system_call_ns %.1f\n", called / calls);
}
