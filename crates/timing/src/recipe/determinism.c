/* Linked into every program that is timed: what differs from run to run answers the same each time.
 * Valid as C and as C++. Time goes on by a microsecond per question, so that loops that wait end. */
#include <stddef.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
#define NOTHROW noexcept
extern "C" {
#else
#define NOTHROW
#endif

static long now_ns = 1700000000000000000L;

static long tick(void) {
    now_ns += 1000;
    return now_ns;
}

int clock_gettime(clockid_t clock, struct timespec *result) NOTHROW {
    (void)clock;
    long now = tick();
    result->tv_sec = now / 1000000000L;
    result->tv_nsec = now % 1000000000L;
    return 0;
}

int clock_getres(clockid_t clock, struct timespec *result) NOTHROW {
    (void)clock;
    if (result) {
        result->tv_sec = 0;
        result->tv_nsec = 1;
    }
    return 0;
}

int timespec_get(struct timespec *result, int base) NOTHROW {
    clock_gettime(0, result);
    return base;
}

int gettimeofday(struct timeval *__restrict result, void *__restrict zone) NOTHROW {
    (void)zone;
    long now = tick();
    result->tv_sec = now / 1000000000L;
    result->tv_usec = now / 1000L % 1000000L;
    return 0;
}

time_t time(time_t *result) NOTHROW {
    time_t now = tick() / 1000000000L;
    if (result)
        *result = now;
    return now;
}

clock_t clock(void) NOTHROW { return (tick() - 1700000000000000000L) / 1000L; }

clock_t times(struct tms *result) NOTHROW {
    clock_t now = (tick() - 1700000000000000000L) / 10000000L;
    if (result) {
        result->tms_utime = now;
        result->tms_stime = result->tms_cutime = result->tms_cstime = 0;
    }
    return now;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    (void)left;
    now_ns += wanted->tv_sec * 1000000000L + wanted->tv_nsec;
    return 0;
}

ssize_t getrandom(void *buffer, size_t length, unsigned flags) {
    static unsigned long state = 88172645463325252UL;
    (void)flags;
    for (size_t at = 0; at < length; at++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((unsigned char *)buffer)[at] = (unsigned char)state;
    }
    return (ssize_t)length;
}

int getentropy(void *buffer, size_t length) {
    getrandom(buffer, length, 0);
    return 0;
}

pid_t getpid(void) NOTHROW { return 4242; }
pid_t getppid(void) NOTHROW { return 4241; }

/* The C library asks for the path of the program at start-up; it differs from host to host. */
const char *_dl_get_origin(void) { return (const char *)-1; }

#ifdef __cplusplus
}
#endif
