/* The process of one scheduler, for the jobs/ entries of the bench.
 *
 * Threads that spin after a call would take their CPU from the scheduler whose turn comes next, and a runtime reads how
 * its threads shall wait only when its process starts. */
#ifndef THRONG_BENCH_SCHEDULER_PROCESS_H
#define THRONG_BENCH_SCHEDULER_PROCESS_H

#include <throng/core/api.h>

TH_API_BEGIN

#define TH_SCHEDULER_COMMAND "bench-scheduler" /* in no help: the first argument of the process */

/* What a program calls when it was started as th_bench_desc.scheduler_program, after th_baselines_register: answers on
 * its standard input until that is closed. Returns the exit code. */
int th_scheduler_process_main(void);

TH_API_END

#endif
