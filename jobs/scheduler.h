/* The implementation behind <jobs/scheduler.h>, for registered schedulers. */
#ifndef TH_JOBS_SCHEDULER_H
#define TH_JOBS_SCHEDULER_H

#include "job.h"
#include "topology/placement.h"

#include <jobs/scheduler.h>

struct th_loop {
    const th_jobs *jobs;
    uint32_t threads;
    th_call call;
    th_worker_counters *worker_counters; /* one per thread */
    const th_affinity *affinity;
    uint64_t start; /* of the call, in ticks */
};

/* Returns NULL if it is not registered. */
const th_scheduler_ops *th_scheduler_find(th_scheduler scheduler);

#endif
