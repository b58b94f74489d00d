/* Run-queue delay: how long threads of this process wait for a CPU while they are runnable. Private to bench.
 *
 * The kernel adds it up for each thread (/proc/PID/task/TID/schedstat, second number), from when the thread becomes
 * runnable until it runs. This shows preemption and its length, but also the wake-up latency: up to some 0.05 ms where
 * the CPU slept. Involuntary context switches are no substitute: on a quiet machine nearly all of them are kernel
 * threads that end after 0.01 to 0.03 ms. */
#ifndef TH_BENCH_MEASURE_RUNQUEUE_DELAY_H
#define TH_BENCH_MEASURE_RUNQUEUE_DELAY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct th_runqueue_delay {
    int *files;          /* [thread] */
    uint64_t *marked_ns; /* [thread] */
    uint32_t count;
} th_runqueue_delay;

/* Opens the counters of all current threads. False, with nothing to close, when the system does not report them. */
bool th_runqueue_delay_open(th_runqueue_delay *delay);
void th_runqueue_delay_close(th_runqueue_delay *delay); /* zero is fine */

/* The largest delay of any thread between begin and max, in nanoseconds. Each call takes a microsecond a thread. */
void th_runqueue_delay_begin(th_runqueue_delay *delay);
uint64_t th_runqueue_delay_max(const th_runqueue_delay *delay);

#endif
