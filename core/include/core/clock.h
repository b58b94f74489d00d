/* Clocks, in nanoseconds since an arbitrary fixed moment. Any thread may call them. */
#ifndef THRONG_CORE_CLOCK_H
#define THRONG_CORE_CLOCK_H

#include <stdint.h>

uint64_t th_clock_ns(void); /* wall time, monotonic */

/* The smallest difference seen between two readings of th_clock_ns, including the cost of a reading. The call takes a
 * few microseconds. */
uint64_t th_clock_resolution_ns(void);

/* CPU time of all threads of this process, and of the calling one. System calls: keep them outside of timed sections.
 */
uint64_t th_clock_cpu_ns(void);
uint64_t th_clock_thread_cpu_ns(void);

/* CPU time of this process and of its children that have ended and were waited for. The same. */
uint64_t th_clock_family_cpu_ns(void);

#endif
