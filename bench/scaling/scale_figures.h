/* The figures of the scaling experiment as functions of what was counted; no pool and no clock. Private to bench. */
#ifndef TH_BENCH_SCALING_SCALE_FIGURES_H
#define TH_BENCH_SCALING_SCALE_FIGURES_H

#include <bench/scale.h>

/* ---- workers ---- */

/* Adds all counters to a sum. */
void th_worker_add(th_worker_stats *sum, const th_worker_stats *more);

/* The sum over all workers. */
th_worker_stats th_workers_total(const th_worker_stats *sums, uint32_t count);

/* The worker with most work; the first of several. */
uint32_t th_workers_busiest(const th_worker_stats *sums, uint32_t count);

/* An object for each worker, with averages over `frames` frames. */
json_t *th_workers_json(const th_worker_stats *sums, uint32_t count, double frames);

/* ---- points ---- */

/* What a row counted in all repetitions. */
typedef struct th_scale_counts {
    const th_worker_stats *workers; /* [threads]; sums over all repetitions */
    const th_samples *frame_ns;     /* mean time of a frame, for each repetition */
    uint32_t iterations;            /* frames in a repetition */
    uint32_t threads;
    uint64_t characters;
    const th_samples *core_clock_ns; /* as th_row; NULL or none: unknown */
    const th_counters *counters;     /* of one frame; NULL: not counted */
    uint32_t busiest;                /* the worker with most work in all rounds that were measured */
} th_scale_counts;

/* The number of frames in all repetitions. */
double th_scale_frames(const th_scale_counts *counts);

/* Work time of all threads in one frame, in nanoseconds. */
double th_scale_work_ns(const th_scale_counts *counts);

/* The row's point, relative to the first of its curve, which may be the same, or to its loop, if that takes less time
 * (NaN: there is none); and its POP factors. */
th_scale_point th_scale_point_of(const th_scale_counts *counts, const th_scale_counts *first, double loop_ns,
                                 uint32_t usable_cpus);
th_pop th_pop_of(const th_scale_counts *counts, const th_scale_counts *first);

/* Bandwidth of passes over `bytes` bytes; pass_ns: mean time of a pass, for each repetition. */
double th_scale_bytes_per_s(uint64_t bytes, const th_samples *pass_ns);

#endif
