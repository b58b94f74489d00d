#include "wait_quiescent.h"

#include <core/clock.h>

#include <time.h>

void th_wait_quiescent(void)
{
    enum { LOOKS = 60, LOOK_NS = 4000000 };
    uint64_t used_ns = UINT64_MAX;
    for (int i = 0; i < LOOKS && used_ns > LOOK_NS / 20; i++) {
        const uint64_t before_ns = th_clock_cpu_ns();
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        used_ns = th_clock_cpu_ns() - before_ns;
    }
}
