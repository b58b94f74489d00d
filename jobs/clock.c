#include "clock.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { BASE_NS = 10000000 };

bool th_clock_counts;

static struct {
    uint64_t ticks, ns;
} start;

static bool kernel_counts(void)
{
    char name[16] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!file)
        return false;
    const bool is_tsc = fgets(name, sizeof name, file) && strcmp(name, "tsc\n") == 0;
    fclose(file);
    return is_tsc;
}

static void init(void)
{
    th_clock_counts = kernel_counts();
    start.ticks = th_clock_ticks();
    start.ns = th_clock_monotonic_ns();
}

void th_clock_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init);
}

th_clock_rate th_clock_rate_read(void)
{
    uint64_t elapsed_ns = th_clock_monotonic_ns() - start.ns;
    if (elapsed_ns < BASE_NS)
        nanosleep(&(struct timespec){.tv_nsec = (long)(BASE_NS - elapsed_ns)}, NULL);
    th_clock_rate rate = {.ticks = th_clock_ticks(), .ns = th_clock_monotonic_ns()};
    rate.ns_per_tick = (double)(rate.ns - start.ns) / (double)(rate.ticks - start.ticks);
    return rate;
}
