/* Worker threads and a parallel-for over [0, count).
 *
 * Knows ranges and callbacks, nothing of what is computed. Own header, no other module's types: errors are errno
 * values. */
#ifndef THRONG_JOBS_JOBS_H
#define THRONG_JOBS_JOBS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum th_scheduler {
    TH_SCHEDULER_OWN = 0, /* per-worker ranges, thieves take half */
    TH_SCHEDULER_SERIAL,  /* a plain loop on the calling thread: the baseline for overhead */
    /* Others, available once the program has registered them (scheduler.h): */
    TH_SCHEDULER_OPENMP_DYNAMIC, /* a loop over the chunks, under schedule(dynamic), */
    TH_SCHEDULER_OPENMP_GUIDED,  /* schedule(guided) */
    TH_SCHEDULER_OPENMP_STATIC,  /* and schedule(static) */
    TH_SCHEDULER_ONETBB,         /* tbb::parallel_for with its auto_partitioner */
    TH_SCHEDULER_COUNT,
} th_scheduler;

/* Where the workers go. A calling thread is never moved: it holds the CPU it runs on, and when it turns up on a
 * worker's, the worker takes the one where the caller before was. Workers for whom no CPU is left go where the system
 * puts them. Only CPUs of the creating thread's affinity mask are used. */
typedef enum th_placement {
    TH_PLACEMENT_NONE = 0, /* the operating system's choice */
    TH_PLACEMENT_WORKERS,  /* each worker pinned to a CPU of its own, in the order the system numbers them */
    TH_PLACEMENT_COMPACT,  /* as close to the caller as can be: hardware threads of its core, then of its cache, ... */
    TH_PLACEMENT_SPREAD,   /* as far from each other as can be: another socket, another cache, another core */
    TH_PLACEMENT_CORES,    /* as compact, but one to a core until every core has one */
    TH_PLACEMENT_COUNT,
} th_placement;

/* What this process may really use. */
typedef struct th_cpus {
    uint32_t online;   /* CPUs of the machine that are on */
    uint32_t affinity; /* of those, allowed by the calling thread's affinity mask */
    double quota;      /* CPUs' worth of time the cgroup grants (v1 or v2, the tightest up the tree); 0 = no limit */
    uint32_t usable;   /* least of the three, at least 1; a fraction of a CPU counts as one */
} th_cpus;

th_cpus th_cpus_read(void);

/* For how long a cgroup's quota has kept threads of this process's group from running, since the group was made: all of
 * its threads and CPUs together, in nanoseconds; 0 where there is no quota, or the system does not tell. */
uint64_t th_cpus_throttled_ns(void);

/* Bytes of memory that this process may take before the system has to write pages to disk, or a cgroup's limit ends it;
 * 0 where the system does not tell. */
uint64_t th_memory_available(void);

typedef struct th_jobs_desc {
    /* With the calling thread; 0 = th_cpus_read().usable; at most TH_JOBS_MAX_THREADS. TH_SCHEDULER_SERIAL has one. */
    uint32_t threads;
    th_scheduler scheduler;
    th_placement placement; /* of the workers of any scheduler; a registered one's stay there after the pool */
} th_jobs_desc;

#define TH_JOBS_MAX_THREADS 256u

typedef struct th_jobs th_jobs;

/* Returns 0 or an errno value: EINVAL for too many threads, an unknown scheduler or placement; ENOMEM; EAGAIN when the
 * system or the scheduler's runtime refuses a thread; ENOTSUP for a scheduler that is not
 * registered, or a placement that needs hwloc in a build without it; anything else when
 * the placement needs the machine's topology and it cannot be read. *out is NULL then and nothing is left behind. */
int th_jobs_create(const th_jobs_desc *desc, th_jobs **out);

/* Waits for a call under way, then for the workers to end. No other call may start or wait for its turn meanwhile.
 * NULL is fine. */
void th_jobs_destroy(th_jobs *jobs);

uint32_t th_jobs_threads(const th_jobs *jobs);
const char *th_scheduler_name(th_scheduler scheduler); /* "own", "serial", "openmp-dynamic", ... */
bool th_scheduler_available(th_scheduler scheduler);
const char *th_placement_name(th_placement placement); /* "none", "workers", "compact", ... */

/* ---- calls ---- */

/* Runs [begin, end). worker: 0 for the thread that made the call, else 1..threads-1; no two chunks run at the same time
 * with the same number. Returns 0, or anything else to stop: chunks that have not begun are left out, and the call
 * returns this value (the first, when there are several). That is also how to cancel: look at a flag of your own. */
typedef int th_jobs_fn(uint32_t begin, uint32_t end, uint32_t worker, void *ctx);

typedef struct th_job {
    th_jobs_fn *fn; /* required */
    void *ctx;
    uint32_t count; /* items */
    uint32_t grain; /* items in a chunk; the last one may have fewer; 0 counts as 1 */
    /* The first item of each worker but worker 0, in order, where items differ in cost: th_jobs_share computes them.
     * Shares are where workers begin; stealing does the rest. Only TH_SCHEDULER_OWN uses them. Read during the call.
     * NULL: the same number of chunks for each. */
    const uint32_t *shares;
} th_job;

/* Calls fn over chunks that together cover [0, count) exactly once, on all threads, and returns when all have ended;
 * what they wrote is visible then. Returns 0, or what the first failing chunk returned. Never allocates. Callable from
 * inside fn: such a nested call runs inline on the thread that makes it, under that thread's worker number. Calls from
 * several threads at once are fine; they take turns.
 *
 * A job of pool A may call pool B, as an ordinary call. The jobs of B must not call A back then: on B's workers that
 * would wait for the very call it is part of. */
int th_jobs_run(th_jobs *jobs, const th_job *job);

static inline int th_jobs_for(th_jobs *jobs, uint32_t count, uint32_t grain, th_jobs_fn *fn, void *ctx)
{
    const th_job job = {.fn = fn, .ctx = ctx, .count = count, .grain = grain};
    return th_jobs_run(jobs, &job);
}

/* Fills in shares of about equal cost: `threads` - 1 of them. costs: of each item, in any unit; sums must stay below
 * 2^56. Takes time proportional to count, so do it once where the same items are run often. */
void th_jobs_share(uint32_t threads, uint32_t count, uint32_t grain, const uint32_t *costs, uint32_t *shares);

/* A frame: some calls that follow each other closely. Waking a thread takes 30 to 60 microseconds; begin a frame as
 * soon as it is known that calls will come, and the workers are awake when they do. Between begin and end they spin (up
 * to 10 ms without work, so a forgotten end does not burn CPUs for ever); after the end they go to sleep. Outside of
 * frames they spin for 50 microseconds. A pool with more threads than usable CPUs never spins, and frames mean nothing
 * to it, nor to the other schedulers.
 *
 * Any thread; frames of several threads may overlap. */
void th_jobs_frame_begin(th_jobs *jobs);
void th_jobs_frame_end(th_jobs *jobs);

/* ---- watching ---- */

/* What each worker did since the pool was created or the counters were last reset. Nested calls count as chunks and
 * items of their own; their time is part of the chunk that made them. What a scheduler has no word for is 0. */
typedef struct th_worker_stats {
    uint64_t busy_ns; /* inside fn, and taking the next chunk of the same range */
    uint64_t idle_ns; /* the rest of the time between the start and the end of every call */
    uint64_t tail_ns; /* of that, after its last chunk of a call; all of a call that it had no chunk of */
    uint64_t chunks;  /* calls of fn */
    uint64_t items;   /* sum of end - begin */
    uint64_t steals;  /* ranges taken from another worker */
    uint64_t misses;  /* looks at another worker's range that found nothing */
    uint64_t parks;   /* times it went to sleep for lack of work */
    uint64_t wakes;   /* times somebody woke it */
    uint64_t wake_ns; /* all of them together, from the moment of waking to the moment of running */
} th_worker_stats;

/* out: th_jobs_threads() of them. Between calls only. May take 10 ms the first time, to compare clocks. */
void th_jobs_stats(const th_jobs *jobs, th_worker_stats *out);
void th_jobs_stats_reset(th_jobs *jobs);

/* A chunk that was run. Times in nanoseconds of CLOCK_MONOTONIC; a chunk's start is the end of the one that the same
 * worker ran before where nothing lies between them. */
typedef struct th_span {
    uint64_t start_ns, end_ns;
    uint32_t begin, end; /* items */
    uint32_t worker;
} th_span;

/* Called after each chunk, by its worker. Must be quick and must not call the pool. */
typedef void th_trace_fn(const th_span *span, void *ctx);

/* From the next call on; NULL: no more. Between calls only. May take 10 ms, as th_jobs_stats. */
void th_jobs_trace(th_jobs *jobs, th_trace_fn *fn, void *ctx);

#endif
