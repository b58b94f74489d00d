/* Quiet before a measurement. Private to bench. */
#ifndef TH_BENCH_MEASURE_WAIT_QUIESCENT_H
#define TH_BENCH_MEASURE_WAIT_QUIESCENT_H

/* Waits until no thread of this process runs. Those of OpenMP's runtimes go on spinning after a call, GCC's for some
 * milliseconds, LLVM's for 200, and would take the CPU from whoever is measured next. Told to spin for ever, they do:
 * hence a limit of 0.24 s. At least 4 ms: the kernel counts a running thread's time at its ticks, up to so far apart.
 */
void th_wait_quiescent(void);

#endif
