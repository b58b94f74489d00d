/* How fast this core runs at the moment. Its clock follows heat, the load of its neighbours and, in a virtual machine,
 * a host that tells nothing: by several percent within seconds, and all that computes follows it. Who compares two
 * moments can divide by this. Private to bench. */
#ifndef TH_BENCH_MEASURE_CORE_CLOCK_H
#define TH_BENCH_MEASURE_CORE_CLOCK_H

/* CPU time in nanoseconds of one step of a chain of multiplications, each waiting for the one before: as many cycles on
 * any day. Takes some 20 microseconds, of which a preemption or another thread's work is no part. */
double th_core_clock_ns(void);

#endif
