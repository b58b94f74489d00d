#include <core/clock.h>

#include <sys/resource.h>
#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t th_clock_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t th_clock_resolution_ns(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        const uint64_t before = th_clock_ns();
        uint64_t after;
        while ((after = th_clock_ns()) == before)
            ;
        least = after - before < least ? after - before : least;
    }
    return least;
}

uint64_t th_clock_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t th_clock_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t th_clock_family_cpu_ns(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    const struct timeval user = children.ru_utime, system = children.ru_stime;
    return th_clock_cpu_ns() + (uint64_t)(user.tv_sec + system.tv_sec) * 1000000000 +
           (uint64_t)(user.tv_usec + system.tv_usec) * 1000;
}
