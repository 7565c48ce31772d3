/* Linked into programs that are certified: one process runs the program on many inputs, each in a child of its own, and tells
 * for each which basic blocks were reached. C, with calls of the kernel and nothing that the program's own state could feel.
 *
 * Standard input holds inputs: a length (4 bytes) and so many bytes, until the end. Descriptor 3 gets first the number of
 * blocks (4 bytes), then for each input: how it ended (1 byte: 0 by itself, 1 by a signal, 2 after too many blocks, 3 after
 * too much output), the signal (1 byte), blocks executed (8 bytes), the length of what it printed (4 bytes), that, and a bit
 * for each block. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHANNEL 3
#define MOST_INPUT (1u << 20)
#define MOST_OUTPUT (1u << 16)
#define MOST_STEPS 20000000ul
#define SECONDS 2

/* Seen by parent and child. */
struct shared {
    uint64_t steps;
    uint32_t is_over;
    unsigned char reached[];
};

extern int __real_main(int, char **, char **);
extern const unsigned char __executable_start[], etext[];

static struct shared *shared;
/* Where calls of the tracer return to: one in each block. */
static uint32_t *blocks, count;
static const unsigned char *first;
static unsigned char *before_main, *bits, *input, *output;

static void *memory(size_t bytes, int flags) {
    void *found = mmap(0, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        _exit(1);
    return found;
}

void __sanitizer_cov_trace_pc(void) {
    if (!shared)
        return;
    shared->reached[(const unsigned char *)__builtin_return_address(0) - first] = 1;
    if (++shared->steps > MOST_STEPS) {
        shared->is_over = 1;
        _exit(0);
    }
}

/* `call` with this distance leads to the tracer; nothing else jumps there. */
static int is_block(const unsigned char *at) {
    int32_t distance;
    memcpy(&distance, at + 1, sizeof distance);
    return *at == 0xe8 && at + 5 + distance == (const unsigned char *)__sanitizer_cov_trace_pc;
}

/* Before any other function of the program runs. */
__attribute__((constructor(101))) static void find_blocks(void) {
    const unsigned char *last = 0;
    for (const unsigned char *at = __executable_start; at + 5 <= etext; at++) {
        if (is_block(at)) {
            first = count++ ? first : at + 5;
            last = at + 5;
        }
    }
    blocks = memory((count + 1) * sizeof *blocks, MAP_PRIVATE);
    before_main = memory(count + 1, MAP_PRIVATE);
    bits = memory(count / 8 + 1, MAP_PRIVATE);
    input = memory(MOST_INPUT, MAP_PRIVATE);
    output = memory(MOST_OUTPUT, MAP_PRIVATE);
    uint32_t found = 0;
    for (const unsigned char *at = first - 5; last && at < last; at++) {
        if (is_block(at))
            blocks[found++] = (uint32_t)(at + 5 - first);
    }
    shared = memory(sizeof *shared + (last ? (size_t)(last - first) : 0) + 1, MAP_SHARED);
}

static int take(void *to, size_t length) {
    unsigned char *at = to;
    while (length) {
        ssize_t got = read(0, at, length);
        if (got <= 0)
            return 0;
        at += got;
        length -= (size_t)got;
    }
    return 1;
}

static void tell(const void *from, size_t length) {
    const unsigned char *at = from;
    while (length) {
        ssize_t put = write(CHANNEL, at, length);
        if (put <= 0)
            _exit(1);
        at += put;
        length -= (size_t)put;
    }
}

/* As where programs are judged: no processes, no signals to others. */
static void refuse_processes(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    /* Without it a program that forks is told apart later, when it is run as it is judged. */
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void run_program(int in, int out, int argc, char **argv, char **envp) {
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
        _exit(1);
    close_range(CHANNEL, ~0u, 0);
    struct rlimit seconds = {SECONDS, SECONDS + 1};
    (void)setrlimit(RLIMIT_CPU, &seconds);
    signal(SIGPIPE, SIG_DFL);
    refuse_processes();
    exit(__real_main(argc, argv, envp));
}

/* What the child printed, while it is given its input; 0 where that is too much. */
static int talk(int in, int out, uint32_t length, uint32_t *printed) {
    uint32_t given = 0;
    for (;;) {
        struct pollfd both[] = {{out, POLLIN, 0}, {in, POLLOUT, 0}};
        if (poll(both, in < 0 ? 1 : 2, -1) < 0)
            _exit(1);
        if (in >= 0 && both[1].revents) {
            ssize_t put = given < length ? write(in, input + given, length - given) : 0;
            given += put > 0 ? (uint32_t)put : 0;
            if (given == length || (put < 0 && errno != EAGAIN)) {
                close(in);
                in = -1;
            }
        }
        if (both[0].revents) {
            unsigned char more;
            int is_full = *printed == MOST_OUTPUT;
            ssize_t got = is_full ? read(out, &more, 1) : read(out, output + *printed, MOST_OUTPUT - *printed);
            if (got > 0 && is_full) {
                if (in >= 0)
                    close(in);
                return 0;
            }
            if (got <= 0) {
                if (in >= 0)
                    close(in);
                return 1;
            }
            *printed += (uint32_t)got;
        }
    }
}

int __wrap_main(int argc, char **argv, char **envp) {
    signal(SIGPIPE, SIG_IGN);
    for (uint32_t at = 0; at < count; at++)
        before_main[at] = shared->reached[blocks[at]];
    tell(&count, sizeof count);
    uint32_t length;
    while (take(&length, sizeof length)) {
        int in[2], out[2], status = 0;
        if (length > MOST_INPUT || !take(input, length) || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
            _exit(1);
        shared->steps = 0;
        shared->is_over = 0;
        pid_t child = fork();
        if (child < 0)
            _exit(1);
        if (child == 0)
            run_program(in[0], out[1], argc, argv, envp);
        close(in[0]);
        close(out[1]);
        if (fcntl(in[1], F_SETFL, O_NONBLOCK) < 0)
            _exit(1);
        uint32_t printed = 0;
        int is_whole = talk(in[1], out[0], length, &printed);
        close(out[0]);
        if (!is_whole)
            kill(child, SIGKILL);
        if (waitpid(child, &status, 0) != child)
            _exit(1);
        unsigned char end[2] = {0, 0};
        if (!is_whole) {
            end[0] = 3;
        } else if (shared->is_over) {
            end[0] = 2;
        } else if (WIFSIGNALED(status)) {
            end[0] = 1;
            end[1] = (unsigned char)WTERMSIG(status);
        }
        memset(bits, 0, count / 8 + 1);
        for (uint32_t at = 0; at < count; at++) {
            if (shared->reached[blocks[at]] || before_main[at])
                bits[at / 8] |= (unsigned char)(1 << at % 8);
            shared->reached[blocks[at]] = 0;
        }
        tell(end, sizeof end);
        tell(&shared->steps, sizeof shared->steps);
        tell(&printed, sizeof printed);
        tell(output, printed);
        tell(bits, (count + 7) / 8);
    }
    _exit(0);
}
