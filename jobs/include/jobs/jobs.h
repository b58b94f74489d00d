/* A pool of worker threads with a parallel-for over [0, count).
 *
 * Depends on core alone. Errors are errno values. */
#ifndef THRONG_JOBS_JOBS_H
#define THRONG_JOBS_JOBS_H

#include <core/api.h>

#include <stdbool.h>
#include <stdint.h>

TH_API_BEGIN

typedef enum th_scheduler {
    TH_SCHEDULER_WORK_STEALING = 0, /* a range per worker; a thief takes half of it */
    TH_SCHEDULER_SERIAL,            /* a plain loop on the calling thread: baseline for overhead */
    /* Available after the program has registered them (scheduler.h): */
    TH_SCHEDULER_OPENMP_DYNAMIC, /* a loop over the chunks with schedule(dynamic) */
    TH_SCHEDULER_OPENMP_GUIDED,  /* the same with schedule(guided) */
    TH_SCHEDULER_OPENMP_STATIC,  /* the same with schedule(static) */
    TH_SCHEDULER_COUNT,
} th_scheduler;

/* CPU affinity of the workers. The pool never moves a calling thread. If a call comes from the CPU of a worker, that
 * worker moves to the CPU of the call before. Workers without a CPU of their own are left to the operating system.
 * Only CPUs of the creating thread's affinity mask are used. */
typedef enum th_placement {
    TH_PLACEMENT_NONE = 0, /* left to the operating system */
    TH_PLACEMENT_WORKERS,  /* each worker pinned to a CPU of its own, in the order of CPU numbers */
    TH_PLACEMENT_COMPACT,  /* as near the caller as possible: hardware threads of its core, then of its cache, ... */
    TH_PLACEMENT_SPREAD,   /* as far from each other as possible: another socket, another cache, another core */
    TH_PLACEMENT_CORES,    /* as COMPACT, but one per core until every core has one */
    TH_PLACEMENT_COUNT,
} th_placement;

/* The CPUs that this process may use. */
typedef struct th_cpus {
    uint32_t online;   /* CPUs of the machine that are online */
    uint32_t affinity; /* of those, allowed by the calling thread's affinity mask */
    double quota;      /* CPU time per time that the cgroup grants (v1 or v2, smallest up the tree); 0 = no limit */
    uint32_t usable;   /* smallest of the three, with the quota rounded up; at least 1 */
} th_cpus;

th_cpus th_cpus_read(void);

/* Nanoseconds for which the cgroup quota has throttled this process's group since the group was created, summed over
 * its threads and CPUs. 0 if there is no quota or the system does not report it. */
uint64_t th_cpus_throttled_ns(void);

/* Bytes of memory that this process may allocate before the system swaps, a cgroup limit ends the process or
 * RLIMIT_DATA refuses more. 0 if the system does not report it. */
uint64_t th_memory_available(void);

/* Bytes of memory that the machine has or, if that is less, that a cgroup grants. */
uint64_t th_memory_limit(void);

typedef struct th_jobs_desc {
    /* Including the caller. 0: th_cpus_read().usable. At most TH_JOBS_MAX_THREADS. TH_SCHEDULER_SERIAL uses 1. */
    uint32_t threads;
    th_scheduler scheduler;
    th_placement placement; /* for any scheduler; threads of a registered one stay pinned after the pool */
} th_jobs_desc;

#define TH_JOBS_MAX_THREADS 256u

typedef struct th_jobs th_jobs;

/* Returns 0 or an errno value:
 *   EINVAL   too many threads, or an unknown scheduler or placement
 *   ENOMEM   out of memory
 *   EAGAIN   the system, or the runtime of the scheduler, refuses a thread
 *   ENOTSUP  the scheduler is not registered, or the placement needs hwloc and the build lacks it
 *   others   the placement needs the topology of the machine, and it cannot be read
 * On failure *out is NULL and nothing is left behind. */
int th_jobs_create(const th_jobs_desc *desc, th_jobs **out);

/* Waits for a running call, then for the workers to end. No other call may start, or wait to start, meanwhile. NULL is
 * allowed. */
void th_jobs_destroy(th_jobs *jobs);

uint32_t th_jobs_threads(const th_jobs *jobs);
const char *th_scheduler_name(th_scheduler scheduler); /* "work-stealing", "serial", "openmp-dynamic", ... */
bool th_scheduler_available(th_scheduler scheduler);
const char *th_placement_name(th_placement placement); /* "none", "workers", "compact", ... */

/* ---- calls ---- */

/* Runs the items [begin, end). worker: 0 for the calling thread, otherwise 1 to threads - 1; chunks that run at the
 * same time have different numbers. Returns 0, or another value to stop the call: chunks that have not begun are
 * skipped, and th_jobs_run returns the first such value. To cancel a call, test a flag of your own. */
typedef int th_jobs_fn(uint32_t begin, uint32_t end, uint32_t worker, void *ctx);

typedef struct th_job {
    th_jobs_fn *fn; /* required */
    void *ctx;
    uint32_t count; /* items */
    uint32_t grain; /* items per chunk, fewer in the last one; 0 is treated as 1 */
    /* Initial partition if items differ in cost: the first item of worker 1, 2, ..., ascending; th_jobs_partition
     * computes it. Stealing balances the rest. Read during the call. Only TH_SCHEDULER_WORK_STEALING uses it. NULL: the
     * same number of chunks for each worker. */
    const uint32_t *partition;
} th_job;

/* Calls fn on all threads with chunks that cover [0, count) exactly once, and returns when all have ended. What they
 * wrote is then visible to the caller. Returns 0, or the value of the first chunk that failed. Never allocates. Any
 * thread may call; concurrent calls run one after the other. A nested call from inside fn runs inline on its thread,
 * under the worker number of that thread.
 *
 * A job of pool A may call pool B. The jobs of B must not call A then: on a worker of B the call would wait for the
 * call that it is part of. */
int th_jobs_run(th_jobs *jobs, const th_job *job);

static inline int th_jobs_for(th_jobs *jobs, uint32_t count, uint32_t grain, th_jobs_fn *fn, void *ctx)
{
    const th_job job = {fn, ctx, count, grain, 0}; /* in order: C++17 has no designators */
    return th_jobs_run(jobs, &job);
}

/* Writes th_job.partition of about equal cost: `threads` - 1 of them, for 1 to TH_JOBS_MAX_THREADS threads. costs: per
 * item, in any unit; their sum must be below 2^56. Takes time proportional to count, so call it once for items that run
 * often. */
void th_jobs_partition(uint32_t threads, uint32_t count, uint32_t grain, const uint32_t *costs, uint32_t *partition);

/* A frame groups calls that follow each other closely. Waking a thread takes 30 to 60 microseconds. Begin the frame as
 * soon as calls are expected, so that the workers are awake in time. Between begin and end idle workers spin, for at
 * most 10 ms without work; after the end they sleep. Outside of frames they spin for 50 microseconds. Frames have no
 * effect on a pool with more threads than usable CPUs, which never spins, nor on other schedulers.
 *
 * Any thread may call; frames of several threads may overlap. */
void th_jobs_frame_begin(th_jobs *jobs);
void th_jobs_frame_end(th_jobs *jobs);

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

TH_API_END

#endif
