/* Waits for an idle process before a measurement. Private to bench. */
#ifndef TH_BENCH_MEASURE_WAIT_QUIESCENT_H
#define TH_BENCH_MEASURE_WAIT_QUIESCENT_H

/* Waits until no other thread of this process runs. OpenMP's threads spin on after a call (GCC's for some milliseconds,
 * LLVM's for 200) and would take CPUs from what is measured next. They can be configured to spin forever, hence a limit
 * of 0.24 s. Takes at least 4 ms: the kernel accounts a running thread's time at ticks, which may be that far apart. */
void th_wait_quiescent(void);

#endif
