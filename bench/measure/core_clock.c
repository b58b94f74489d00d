#include "core_clock.h"

#include "calibrated_work.h"

#include <stdint.h>
#include <time.h>

static uint64_t thread_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double th_core_clock_ns(void)
{
    enum { STEPS = 20000 };
    const uint64_t start_ns = thread_cpu_ns();
    const volatile uint64_t used = th_work_steps(start_ns, STEPS);
    (void)used;
    return (double)(thread_cpu_ns() - start_ns) / STEPS;
}
