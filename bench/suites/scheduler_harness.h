/* A harness: one scheduler's threads, the work they do, and what is noted on the method. Private to bench.
 *
 * The ways of working are functions for th_subject. Those that are laps time themselves. */
#ifndef TH_BENCH_SUITES_SCHEDULER_HARNESS_H
#define TH_BENCH_SUITES_SCHEDULER_HARNESS_H

#include "measure/calibrated_work.h"

#include <throng/bench/measure.h>
#include <throng/jobs/jobs.h>

#include <stdalign.h>
#include <stdatomic.h>

#define TH_SCHEDULER_HARNESS_RING 256

typedef struct th_scheduler_harness {
    th_jobs *jobs; /* NULL: a plain loop */
    th_job job;    /* a call */
    th_work *work; /* what its items cost; NULL: nothing */
    th_row *row;   /* gets the failure when work went missing */
    bool is_traced;
    uint32_t serial_steps;       /* 100 microseconds, for those ways that begin so */
    alignas(128) uint64_t calls; /* in this repetition; from here on the caller writes, apart from what workers read */
    uint64_t serial_sum;
    bool is_measured;              /* from the first repetition on */
    bool has_missed;               /* a call to which no second thread came */
    uint64_t idle_ns, idle_cpu_ns; /* while it slept */
    double *call_ns;               /* of each call, where that is kept */
    size_t call_count, call_capacity;
    uint64_t traced;                           /* chunks, in this repetition */
    th_span ring[TH_SCHEDULER_HARNESS_RING];   /* the last of them */
    alignas(128) _Atomic(uint64_t) arrived_ns; /* when the second thread came; 0: not yet */
    struct {
        alignas(128) uint64_t sum; /* of the worker's checksums; a pair of cache lines for each worker */
    } workers[TH_JOBS_MAX_THREADS];
} th_scheduler_harness;

typedef struct th_scheduler_harness_desc {
    const th_jobs_desc *jobs; /* NULL: a plain loop */
    uint32_t items, grain;
    uint32_t item_ns; /* mean; 0: nothing to do */
    th_costs costs;
    bool is_traced, is_awaited; /* every chunk is traced; the caller waits for a second thread */
    double steps_per_us;
    th_row *row;
} th_scheduler_harness_desc;

th_result th_scheduler_harness_create(const th_scheduler_harness_desc *desc, th_scheduler_harness **out, th_error *err);
void th_scheduler_harness_destroy(void *harness);

/* Before and after a repetition: quiet and a call to warm up; whether all work was done. */
void th_scheduler_harness_prepare(void *harness);
void th_scheduler_harness_check(void *harness);

/* The same for a repetition that is one frame. */
void th_scheduler_harness_prepare_frame(void *harness);
void th_scheduler_harness_check_frame(void *harness);

/* One call. Three calls. One call whose time is kept. */
void th_scheduler_harness_call(void *harness, uint64_t frame);
void th_scheduler_harness_stages(void *harness, uint64_t frame);
th_lap th_scheduler_harness_timed_call(void *harness, uint64_t frame);

/* After a sleep of 2 ms, how long until a second thread runs a chunk. In a frame: it begins after the sleep, and there
 * are 100 us of serial work until the call. */
th_lap th_scheduler_harness_wake(void *harness, uint64_t frame);
th_lap th_scheduler_harness_wake_frame(void *harness, uint64_t frame);

/* After a sleep of 14 ms, a frame: 100 us of serial work, then three calls. */
th_lap th_scheduler_harness_frame(void *harness, uint64_t frame);

/* For a trace: the threads, NULL where they are traced already. */
th_jobs *th_scheduler_harness_pool(void *harness);

/* Of the calls kept, the time within which 9 of 10 stayed; NaN for none. */
double th_scheduler_harness_p90_ns(const th_scheduler_harness *harness);

#endif
