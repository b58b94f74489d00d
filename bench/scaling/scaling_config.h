/* A config of the scaling experiment: some threads that run whole frames or what is left of them, and what was counted
 * meanwhile. Private to bench. */
#ifndef TH_BENCH_SCALING_SCALING_CONFIG_H
#define TH_BENCH_SCALING_SCALING_CONFIG_H

#include "ablation.h"

typedef struct th_scaling_config {
    th_jobs *jobs;             /* borrowed */
    th_frame *frame;           /* whole frames, or else: */
    th_ablated_frame *ablated; /* parts of them */
    void *palette;             /* the same for all configs; borrowed */
    bool waits_quiescent;      /* waits for others' threads to go to sleep before a repetition */
    th_worker_stats *sums;
    th_stage_times before, stages; /* when the repetition began; of all repetitions */
} th_scaling_config;

/* One of these two, with `jobs`, `palette` and `waits_quiescent` filled in; then th_scaling_config_fini, whatever comes
 * back. */
th_result th_scaling_config_whole(th_scaling_config *config, const th_frame_desc *desc, th_error *err);
th_result th_scaling_config_part(th_scaling_config *config, const th_ablated_frame_frame_desc *desc, th_error *err);
void th_scaling_config_fini(th_scaling_config *config);

/* For th_subject. Repetitions lie within a frame of the pool, as a program that draws does it. */
void th_scaling_config_begin(void *config);
void th_scaling_config_run(void *config, uint64_t frame);
void th_scaling_config_end(void *config);

/* Some frames more, as th_scaling_config_begin would have them. */
void th_scaling_config_trace(th_scaling_config *config, const th_row *row, th_tracer *tracer);

/* Of all repetitions together. */
th_worker_stats th_scaling_config_total(const th_scaling_config *config);

/* How many frames the repetitions of its row had, and the time inside the work, all threads together, of one. */
double th_scaling_config_frames(const th_row *row);
double th_scaling_config_work_ns(const th_scaling_config *config, const th_row *row);

/* What the row's point is, compared with the first of its curve, which may be itself. */
th_scale_point th_scaling_config_point(const th_scaling_config *config, const th_row *row, const th_row *first,
                                       uint32_t usable_cpus);

#endif
