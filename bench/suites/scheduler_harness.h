/* The harness of a jobs/ entry: the threads of one scheduler, their work, and what is recorded. Private to bench.
 *
 * The functions that run an iteration fit th_subject.run; those that return th_lap time themselves. */
#ifndef TH_BENCH_SUITES_SCHEDULER_HARNESS_H
#define TH_BENCH_SUITES_SCHEDULER_HARNESS_H

#include "measure/calibrated_work.h"

#include <bench/measure.h>
#include <jobs/jobs.h>

#include <stdalign.h>
#include <stdatomic.h>

#define TH_SCHEDULER_HARNESS_RING 256

typedef struct th_scheduler_harness {
    th_jobs *jobs; /* NULL: a plain loop */
    th_job job;    /* what one call runs */
    th_work *work; /* the work of its items; NULL: none */
    th_row *row;   /* gets a failure when items were missed or repeated */
    bool is_traced, is_alone, is_frame;
    uint64_t sleep_ns;
    uint32_t serial_steps; /* 100 microseconds, for frames that begin with serial work */
    /* Calls in this repetition. From here on the caller writes; on lines of its own, apart from what workers read. */
    alignas(128) uint64_t calls;
    uint64_t serial_sum;
    bool is_measured;              /* set at the first repetition */
    bool has_missed;               /* in some call no second thread ran */
    uint64_t idle_ns, idle_cpu_ns; /* while the caller slept */
    double *call_ns;               /* time of each call, where it is recorded */
    size_t call_count, call_capacity;
    uint64_t traced;                           /* chunks in this repetition */
    th_span ring[TH_SCHEDULER_HARNESS_RING];   /* the last traced chunks */
    alignas(128) _Atomic(uint64_t) arrived_ns; /* when the second thread came; 0: not yet */
    struct {
        alignas(128) uint64_t sum; /* checksum of the worker, on a pair of cache lines of its own */
    } workers[TH_JOBS_MAX_THREADS];
} th_scheduler_harness;

typedef struct th_scheduler_harness_desc {
    const th_jobs_desc *jobs; /* NULL: a plain loop */
    uint32_t items, grain;
    uint32_t item_ns; /* mean; 0: nothing to do */
    th_costs costs;
    bool is_traced, is_awaited; /* trace every chunk; the caller waits for a second thread */
    bool is_alone;              /* no other threads of this process may still spin */
    bool is_frame;              /* a repetition is one frame */
    uint64_t sleep_ns;          /* of the caller, ahead of an iteration that wakes threads */
    double steps_per_us;
    th_row *row;
} th_scheduler_harness_desc;

/* What the row of samples lacks. */
typedef struct th_scheduler_times {
    uint64_t idle_ns, idle_cpu_ns; /* as in th_scheduler_harness */
    double p90_ns;                 /* of the recorded calls; NaN for none */
} th_scheduler_times;

th_result th_scheduler_harness_create(const th_scheduler_harness_desc *desc, th_scheduler_harness **out, th_error *err);
void th_scheduler_harness_destroy(void *harness);

/* Before a repetition: wait for quiet unless alone, run a call to warm up. After: check that all work was done. */
void th_scheduler_harness_prepare(void *harness);
void th_scheduler_harness_check(void *harness);

/* One call; three calls; one call whose time is recorded. */
void th_scheduler_harness_call(void *harness, uint64_t frame);
void th_scheduler_harness_stages(void *harness, uint64_t frame);
th_lap th_scheduler_harness_timed_call(void *harness, uint64_t frame);

/* The time from a call until a second thread runs a chunk, after the sleep. _frame: a frame begins after the sleep, and
 * 100 us of serial work precede the call. */
th_lap th_scheduler_harness_wake(void *harness, uint64_t frame);
th_lap th_scheduler_harness_wake_frame(void *harness, uint64_t frame);

/* A frame after the sleep: 100 us of serial work, then three calls. */
th_lap th_scheduler_harness_frame(void *harness, uint64_t frame);

/* The pool to trace; NULL where it is traced already. */
th_jobs *th_scheduler_harness_pool(void *harness);

th_scheduler_times th_scheduler_harness_times(const th_scheduler_harness *harness);

/* The figures of jobs/ entries as functions of times; no pool and no clock. */
typedef struct th_jobs_times {
    double ns, p90_ns;             /* of a call: median over the repetitions, 90th percentile of single calls */
    double baseline_ns;            /* median of the shape's baseline; NaN for none */
    uint32_t threads, usable_cpus; /* where there are more threads than CPUs, the CPUs count */
    uint32_t chunks;               /* in a call */
    uint64_t idle_ns, idle_cpu_ns; /* while the caller slept: wall time, and CPU time of the process */
} th_jobs_times;

typedef struct th_jobs_figures {
    double speed_up;          /* baseline / time */
    double efficiency;        /* speed-up / CPUs; 1 is ideal */
    double efficiency_at_p90; /* the same for p90_ns */
    double overhead_ns;       /* time beyond that of an ideal schedule, baseline / CPUs */
    double chunk_ns;          /* time beyond the baseline, for each chunk */
    double idle_cores;        /* CPUs in use while the caller slept */
} th_jobs_figures;

th_jobs_figures th_jobs_figures_of(const th_jobs_times *times);

#endif
