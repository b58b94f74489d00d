/* The clock of this module: ticks, which are cheap to read, and nanoseconds.
 *
 * A tick is one of the CPU's time stamp counter if the kernel itself keeps time by it, which proves that it runs at a
 * constant rate and in step on all CPUs: 10 ns to read instead of 22. Otherwise a tick is a nanosecond of
 * CLOCK_MONOTONIC. */
#ifndef TH_JOBS_CLOCK_H
#define TH_JOBS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static inline uint64_t th_clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

extern bool th_clock_uses_tsc; /* use the time stamp counter; set by th_clock_init, before any thread starts */

static inline uint64_t th_clock_ticks(void)
{
#if defined(__x86_64__)
    if (th_clock_uses_tsc)
        return __rdtsc();
#endif
    return th_clock_monotonic_ns();
}

/* Call first. Further calls have no effect; any thread. */
void th_clock_init(void);

/* Measures the length of a tick by comparing the clocks now and at th_clock_init. Waits until at least 10 ms have
 * passed between the two, for an accuracy of some millionths. */
typedef struct th_clock_rate {
    uint64_t ticks, ns;   /* one moment on both clocks */
    uint64_t ns_per_tick; /* times 2^32: an integer product takes a third of the time of a conversion to double */
} th_clock_rate;

th_clock_rate th_clock_rate_read(void);

__extension__ typedef __int128 th_clock_wide;

/* Does not wait. Accurate to a percent if th_clock_init was only some microseconds ago. */
uint64_t th_clock_ticks_in(uint64_t ns);

static inline uint64_t th_clock_duration_ns(const th_clock_rate *rate, uint64_t ticks)
{
    return (uint64_t)((th_clock_wide)ticks * rate->ns_per_tick >> 32);
}

/* Nanoseconds of a moment before or after that of the rate. */
static inline uint64_t th_clock_moment_ns(const th_clock_rate *rate, uint64_t ticks)
{
    return rate->ns + (uint64_t)((th_clock_wide)(int64_t)(ticks - rate->ticks) * rate->ns_per_tick >> 32);
}

#endif
