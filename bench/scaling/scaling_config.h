/* A lane of the scaling study: some threads that run whole frames or what is left of them, and what was counted
 * meanwhile. Private to bench. */
#ifndef TH_BENCH_SCALING_SCALING_CONFIG_H
#define TH_BENCH_SCALING_SCALING_CONFIG_H

#include "ablation.h"

typedef struct th_lane {
    th_jobs *jobs;       /* borrowed */
    th_frame *frame;     /* whole frames, or else: */
    th_ablated *ablated; /* parts of them */
    void *palette;       /* the same for all lanes; borrowed */
    bool settles;        /* waits for others' threads to go to sleep before a repetition */
    th_worker_stats *sums;
    th_stage_times before, stages; /* when the repetition began; of all repetitions */
} th_lane;

/* One of these two, with `jobs`, `palette` and `settles` filled in; then th_lane_fini, whatever comes back. */
th_result th_lane_whole(th_lane *lane, const th_frame_desc *desc, th_error *err);
th_result th_lane_part(th_lane *lane, const th_ablated_desc *desc, th_error *err);
void th_lane_fini(th_lane *lane);

/* For th_subject. Repetitions lie within a frame of the pool, as a program that draws does it. */
void th_lane_begin(void *lane);
void th_lane_run(void *lane, uint64_t frame);
void th_lane_end(void *lane);

/* Some frames more, as th_lane_begin would have them. */
void th_lane_trace(th_lane *lane, const th_row *row, th_tracer *tracer);

/* Of all repetitions together. */
th_worker_stats th_lane_total(const th_lane *lane);

/* How many frames the repetitions of its row had, and the time inside the work, all threads together, of one. */
double th_lane_frames(const th_row *row);
double th_lane_work_ns(const th_lane *lane, const th_row *row);

/* What the row's point is, compared with the first of its curve, which may be itself. */
th_scale_point th_lane_point(const th_lane *lane, const th_row *row, const th_row *first, uint32_t usable_cpus);

#endif
