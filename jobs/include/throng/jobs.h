/* Worker threads and a parallel-for over [0, count).
 *
 * Knows ranges and callbacks, nothing of what is computed. Own header, no other module's types: errors are errno
 * values. */
#ifndef THRONG_JOBS_H
#define THRONG_JOBS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum th_scheduler {
    TH_SCHEDULER_OWN = 0, /* per-worker ranges, thieves take half */
    TH_SCHEDULER_SERIAL,  /* a plain loop on the calling thread: the yardstick for overhead */
    TH_SCHEDULER_OPENMP,  /* schedule(dynamic, grain): the yardstick people know */
    TH_SCHEDULER_COUNT,
} th_scheduler;

typedef enum th_placement {
    TH_PLACEMENT_NONE = 0, /* the operating system's choice */
    TH_PLACEMENT_WORKERS,  /* each worker pinned to a CPU of its own, off that of the creating thread */
} th_placement;

/* What this process may really use. */
typedef struct th_cpus {
    uint32_t online;   /* CPUs of the machine that are on */
    uint32_t affinity; /* of those, allowed by the calling thread's affinity mask */
    double quota;      /* CPUs' worth of time the cgroup grants (v1 or v2, the tightest up the tree); 0 = no limit */
    uint32_t usable;   /* least of the three, at least 1; a fraction of a CPU counts as one */
} th_cpus;

th_cpus th_cpus_read(void);

typedef struct th_jobs_desc {
    /* With the calling thread; 0 = th_cpus_read().usable; at most TH_JOBS_MAX_THREADS. TH_SCHEDULER_SERIAL has one. */
    uint32_t threads;
    th_scheduler scheduler;
    /* For TH_SCHEDULER_OWN; the caller is never pinned. Workers for whom no CPU is left are not pinned either. OpenMP's
     * threads belong to its runtime: place them with OMP_PLACES. */
    th_placement placement;
} th_jobs_desc;

#define TH_JOBS_MAX_THREADS 256u

typedef struct th_jobs th_jobs;

/* Runs [begin, end). worker: 0 for the thread that called th_jobs_for, else 1..threads-1; no two calls run at the same
 * time with the same number. */
typedef void th_jobs_fn(uint32_t begin, uint32_t end, uint32_t worker, void *ctx);

/* Returns 0 or an errno value (EINVAL for too many threads, an unknown scheduler or placement, ENOMEM, EAGAIN when the
 * system or OpenMP's runtime refuses a thread, ENOTSUP for OpenMP in a build without it); *out is NULL then and nothing
 * is left behind. */
int th_jobs_create(const th_jobs_desc *desc, th_jobs **out);

/* Waits for a call under way, then for the workers to end. No other call may start or wait for its turn meanwhile.
 * NULL is fine. */
void th_jobs_destroy(th_jobs *jobs);

uint32_t th_jobs_threads(const th_jobs *jobs);
const char *th_scheduler_name(th_scheduler scheduler); /* "own", "serial", "openmp" */
bool th_scheduler_available(th_scheduler scheduler);

/* Calls fn over ranges of at most `grain` (0 counts as 1) that together cover [0, count) exactly once, on all threads,
 * and returns when all have ended; what they wrote is visible then. Never allocates. Callable from inside fn: such a
 * nested call runs inline on the thread that makes it, under that thread's worker number. Calls from several threads at
 * once are fine; they take turns.
 *
 * A job of pool A may call pool B, as an ordinary call. The jobs of B must not call A back then: on B's workers that
 * would wait for the very call it is part of. */
void th_jobs_for(th_jobs *jobs, uint32_t count, uint32_t grain, th_jobs_fn *fn, void *ctx);

/* What each worker did since the pool was created or the counters were last reset. Times by the monotonic clock.
 * Nested calls count as chunks and items of their own; their time is part of the chunk that made them. */
typedef struct th_worker_stats {
    uint64_t busy_ns; /* inside fn, and taking the next chunk of the same range (about 10 ns each) */
    uint64_t wait_ns; /* the rest of the time between the start and the end of every th_jobs_for */
    uint64_t chunks;  /* calls of fn */
    uint64_t items;   /* sum of end - begin */
    uint64_t steals;  /* ranges taken from another worker; 0 for OpenMP, which has none */
    uint64_t parks;   /* times it went to sleep for lack of work; 0 for OpenMP, which does not tell */
} th_worker_stats;

/* out: th_jobs_threads() of them. Between calls of th_jobs_for only. */
void th_jobs_stats(const th_jobs *jobs, th_worker_stats *out);
void th_jobs_stats_reset(th_jobs *jobs);

#endif
