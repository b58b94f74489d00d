/* How long threads of this process wait for a CPU while they could run. Private to bench.
 *
 * The scheduler adds that up for each thread (/proc/PID/task/TID/schedstat, its second number): from the moment in
 * which a thread could run to that in which it does. That another was given its CPU shows, and for how long, but so
 * does what waking up takes, which is up to some 0.05 ms where the CPU slept. Involuntary context switches do not tell:
 * on a quiet machine nearly all of them are the kernel's own threads, which are done after 0.01 to 0.03 ms. */
#ifndef TH_BENCH_MEASURE_RUNQUEUE_DELAY_H
#define TH_BENCH_MEASURE_RUNQUEUE_DELAY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct th_runqueue_delay {
    int *files;          /* [thread] */
    uint64_t *marked_ns; /* [thread] */
    uint32_t count;
} th_runqueue_delay;

/* Of all threads that there are now. False, and nothing to close, when the system does not tell. */
bool th_runqueue_delay_open(th_runqueue_delay *delay);
void th_runqueue_delay_close(th_runqueue_delay *delay); /* zero is fine */

/* How long the one that waited longest did, in nanoseconds, between these two. Each takes a microsecond a thread. */
void th_runqueue_delay_begin(th_runqueue_delay *delay);
uint64_t th_runqueue_delay_max(const th_runqueue_delay *delay);

#endif
