/* The figures of the scaling experiment as functions of what was counted; no pool and no clock. Private to bench. */
#ifndef TH_BENCH_SCALING_SCALE_FIGURES_H
#define TH_BENCH_SCALING_SCALE_FIGURES_H

#include <bench/scale.h>

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

/* The row's point, relative to the first of its curve, which may be the same. */
th_scale_point th_scale_point_of(const th_scale_counts *counts, const th_scale_counts *first, uint32_t usable_cpus);

/* Bandwidth of passes over `bytes` bytes; pass_ns: mean time of a pass, for each repetition. */
double th_scale_bytes_per_s(uint64_t bytes, const th_samples *pass_ns);

#endif
