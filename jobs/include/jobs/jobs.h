/* The pool beyond throng.h: limits of the machine, partitions, statistics and traces. */
#ifndef THRONG_JOBS_JOBS_H
#define THRONG_JOBS_JOBS_H

#include <throng/throng.h>

/* Nanoseconds for which the cgroup quota has throttled this process's group since the group was created, summed over
 * its threads and CPUs. 0 if there is no quota or the system does not report it. */
uint64_t th_cpus_throttled_ns(void);

/* The CPUs of a list in a file of /sys, "0-3,8". Writes the first `most`; returns how many there are, 0 if it cannot be
 * read. */
uint32_t th_cpus_list(const char *path, uint32_t *out, uint32_t most);

/* Bytes of memory that this process may allocate before the system swaps, a cgroup limit ends the process or
 * RLIMIT_DATA refuses more. 0 if the system does not report it. */
uint64_t th_memory_available(void);

/* Bytes of memory that the machine has or, if that is less, that a cgroup grants. */
uint64_t th_memory_limit(void);

const char *th_scheduler_name(th_scheduler scheduler); /* "work-stealing", "serial", "openmp-dynamic", ... */
bool th_scheduler_available(th_scheduler scheduler);
const char *th_placement_name(th_placement placement); /* "none", "workers", "compact", ... */

/* ---- calls ---- */

static inline int th_jobs_for(th_jobs *jobs, uint32_t count, uint32_t grain, th_jobs_fn *fn, void *ctx)
{
    const th_job job = {fn, ctx, count, grain, 0}; /* in order: C++17 has no designators */
    return th_jobs_run(jobs, &job);
}

/* Writes th_job.partition of about equal cost: `threads` - 1 of them, for 1 to TH_JOBS_MAX_THREADS threads. costs: per
 * item, in any unit; their sum must be below 2^56. Takes time proportional to count, so call it once for items that run
 * often. */
void th_jobs_partition(uint32_t threads, uint32_t count, uint32_t grain, const uint32_t *costs, uint32_t *partition);

/* ---- statistics and traces ---- */

/* Counters of a worker since the pool was created or the counters were reset. Nested calls count as further chunks and
 * items; their time belongs to the chunk that made them. A counter that a scheduler does not support is 0. */
typedef struct th_worker_stats {
    uint64_t busy_ns; /* inside fn, and taking the next chunk of its own range */
    uint64_t idle_ns; /* the rest of the time between start and end of each call */
    uint64_t
        idle_at_end_ns; /* idle at end: part of idle_ns after its last chunk of a call, all of it without a chunk */
    uint64_t chunks;    /* calls of fn */
    uint64_t items;     /* sum of end - begin */
    uint64_t steals;    /* ranges stolen from another worker */
    uint64_t misses;    /* attempts to steal that found nothing */
    uint64_t parks;     /* times it went to sleep for lack of work */
    uint64_t wakes;     /* times it was woken */
    uint64_t wake_ns;   /* sum over all wakes of the time from the wake to running */
} th_worker_stats;

/* out: th_jobs_threads() elements. Call only between calls of the pool. The first call may take 10 ms to calibrate the
 * clock. */
void th_jobs_stats(const th_jobs *jobs, th_worker_stats *out);
void th_jobs_stats_reset(th_jobs *jobs);

/* A chunk that was run. Times are nanoseconds of CLOCK_MONOTONIC. If a worker runs two chunks without anything between
 * them, the second starts when the first ends. */
typedef struct th_span {
    uint64_t start_ns, end_ns;
    uint32_t begin, end; /* items */
    uint32_t worker;
} th_span;

/* Called by the worker after each chunk. It must be fast and must not call the pool. */
typedef void th_trace_fn(const th_span *span, void *ctx);

/* Calls fn for each chunk from the next call on; NULL ends that. Call only between calls of the pool. May take 10 ms,
 * as th_jobs_stats. */
void th_jobs_trace(th_jobs *jobs, th_trace_fn *fn, void *ctx);

#endif
