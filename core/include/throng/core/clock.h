/* Clocks, in nanoseconds since some fixed moment. Any thread. */
#ifndef THRONG_CORE_CLOCK_H
#define THRONG_CORE_CLOCK_H

#include <stdint.h>

uint64_t th_clock_ns(void); /* wall time: monotonic, never adjusted backwards */

/* The smallest step that was seen between two readings of it, including what a reading takes. A few microseconds. */
uint64_t th_clock_step_ns(void);

/* CPU time of all threads of this process; a system call, so keep it out of the timing. */
uint64_t th_clock_cpu_ns(void);

#endif
