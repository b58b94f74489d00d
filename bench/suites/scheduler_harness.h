/* A crew: one scheduler's threads, the work they do, and what is noted on the way. Private to bench.
 *
 * The ways of working are functions for th_subject. Those that are laps time themselves. */
#ifndef TH_BENCH_SUITES_SCHEDULER_HARNESS_H
#define TH_BENCH_SUITES_SCHEDULER_HARNESS_H

#include "measure/calibrated_work.h"

#include <throng/bench/measure.h>
#include <throng/jobs/jobs.h>

#include <stdalign.h>
#include <stdatomic.h>

#define TH_CREW_RING 256

typedef struct th_crew {
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
    th_span ring[TH_CREW_RING];                /* the last of them */
    alignas(128) _Atomic(uint64_t) arrived_ns; /* when the second thread came; 0: not yet */
    struct {
        alignas(128) uint64_t sum; /* of the worker's checksums; a pair of cache lines for each worker */
    } workers[TH_JOBS_MAX_THREADS];
} th_crew;

typedef struct th_crew_desc {
    const th_jobs_desc *jobs; /* NULL: a plain loop */
    uint32_t items, grain;
    uint32_t item_ns; /* mean; 0: nothing to do */
    th_costs costs;
    bool is_traced, is_awaited; /* every chunk is traced; the caller waits for a second thread */
    double steps_per_us;
    th_row *row;
} th_crew_desc;

th_result th_crew_create(const th_crew_desc *desc, th_crew **out, th_error *err);
void th_crew_destroy(void *crew);

/* Before and after a repetition: quiet and a call to warm up; whether all work was done. */
void th_crew_prepare(void *crew);
void th_crew_check(void *crew);

/* The same for a repetition that is one frame. */
void th_crew_prepare_frame(void *crew);
void th_crew_check_frame(void *crew);

/* One call. Three calls. One call whose time is kept. */
void th_crew_call(void *crew, uint64_t frame);
void th_crew_stages(void *crew, uint64_t frame);
th_lap th_crew_timed_call(void *crew, uint64_t frame);

/* After a sleep of 2 ms, how long until a second thread runs a chunk. In a frame: it begins after the sleep, and there
 * are 100 us of serial work until the call. */
th_lap th_crew_wake(void *crew, uint64_t frame);
th_lap th_crew_wake_frame(void *crew, uint64_t frame);

/* After a sleep of 14 ms, a frame: 100 us of serial work, then three calls. */
th_lap th_crew_frame(void *crew, uint64_t frame);

/* For a trace: the threads, NULL where they are traced already. */
th_jobs *th_crew_pool(void *crew);

/* Of the calls kept, the time within which 9 of 10 stayed; NaN for none. */
double th_crew_slow_call_ns(const th_crew *crew);

#endif
