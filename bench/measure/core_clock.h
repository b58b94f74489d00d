/* The current speed of this core. Its clock changes by several percent within seconds: with heat, with the load of its
 * neighbours and, in a virtual machine, with a host that reports nothing. All compute time follows it. Divide by this
 * to compare times of two moments. Private to bench. */
#ifndef TH_BENCH_MEASURE_CORE_CLOCK_H
#define TH_BENCH_MEASURE_CORE_CLOCK_H

/* CPU time in nanoseconds of one step of a chain of dependent multiplications, which always takes the same number of
 * cycles. Takes some 20 microseconds. Preemption and other threads do not affect the result. */
double th_core_clock_ns(void);

#endif
