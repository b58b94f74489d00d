/* Clocks, in nanoseconds since some fixed moment. Any thread. */
#ifndef THRONG_CLOCK_H
#define THRONG_CLOCK_H

#include <stdint.h>

uint64_t th_clock_ns(void); /* wall time: monotonic, never adjusted backwards */

/* CPU time of all threads of this process; a system call, so keep it out of the timing. */
uint64_t th_clock_cpu_ns(void);

#endif
