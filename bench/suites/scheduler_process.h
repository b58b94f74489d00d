/* A scheduler harness in a process of its own, as the bench sees it. Private to bench.
 *
 * The process is stopped except during its turns, so that its threads spin at the cost of nobody else. The functions
 * fit th_entry; their harness has the same meaning as th_scheduler_harness. */
#ifndef TH_BENCH_SUITES_SCHEDULER_PROCESS_H
#define TH_BENCH_SUITES_SCHEDULER_PROCESS_H

#include "scheduler_harness.h"

typedef struct th_scheduler_process th_scheduler_process;

typedef struct th_scheduler_process_desc {
    const char *const *program; /* arguments, ends with NULL; the first is a path. It calls th_scheduler_process_main */
    const char *const *variables; /* of its environment, as in th_subprocess_desc */
    const char *entry;            /* jobs/ entry whose harness it creates */
    uint32_t threads;
    double steps_per_us;
    th_row *row; /* gets the threads, and a failure */
} th_scheduler_process_desc;

/* Destroy *out in any case. */
th_result th_scheduler_process_create(const th_scheduler_process_desc *desc, th_scheduler_process **out, th_error *err);
void th_scheduler_process_destroy(void *process);

void th_scheduler_process_before(void *process);
th_lap th_scheduler_process_run(void *process, uint64_t first, uint32_t iterations);
th_lap th_scheduler_process_lap(void *process, uint64_t frame);
void th_scheduler_process_after(void *process);

/* Of its harness, after the last repetition. */
th_scheduler_times th_scheduler_process_times(const th_scheduler_process *process);

#endif
