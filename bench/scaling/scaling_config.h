/* A configuration of the scaling experiment: threads that run whole frames or an ablation, and their counters. Private
 * to bench. */
#ifndef TH_BENCH_SCALING_SCALING_CONFIG_H
#define TH_BENCH_SCALING_SCALING_CONFIG_H

#include "ablation.h"
#include "measure/untimed_frames.h"
#include "scale_figures.h"
#include "suites/shared_crowd.h"

typedef struct th_scaling_config {
    th_jobs *jobs;             /* borrowed */
    th_frame *frame;           /* whole frames, or else: */
    th_ablated_frame *ablated; /* an ablation */
    void *palette;             /* the same for all configs; borrowed */
    const th_scene *scene;     /* of the whole frames, and */
    th_crowd *crowd;           /* its crowd; borrowed */
    th_shared_crowd *shared;   /* of that crowd; NULL: each character is posed by itself; borrowed */
    th_row *row;               /* of the whole frames */
    th_hash128 palette_sum;    /* of the checked frame */
    /* Before a repetition, waits until the threads of other configs are idle. */
    bool waits_quiescent;
    th_worker_stats *sums; /* [threads]; of all repetitions */
    /* Of each thread in each repetition: [round * threads + thread]; filled in: room for so many. */
    th_worker_stats *rounds;
    uint32_t round_count, round_capacity;
    th_counters counters;  /* of one frame */
    json_t *counters_json; /* the same by worker; NULL: not counted */
} th_scaling_config;

/* Call one of these two, with `jobs`, `palette`, `round_capacity` and `waits_quiescent` filled in; and
 * th_scaling_config_fini in the end, even if it failed. */
th_result th_scaling_config_whole(th_scaling_config *config, const th_frame_desc *desc, th_error *err);
th_result th_scaling_config_part(th_scaling_config *config, const th_ablated_frame_desc *desc, th_error *err);
void th_scaling_config_fini(th_scaling_config *config);

/* For th_subject. Repetitions run within a frame of the pool, as in an application that draws. */
void th_scaling_config_begin(void *config);
void th_scaling_config_run(void *config, uint64_t frame);
/* Its two parts: who shares, and the poses. */
void th_scaling_config_plan(th_scaling_config *config, uint64_t frame);
void th_scaling_config_pose(th_scaling_config *config, uint64_t frame);
void th_scaling_config_end(void *config);

/* Counts additional frames of a config of whole frames. False when memory is out. */
bool th_scaling_config_count(th_scaling_config *config, th_worker_counts *counts);

/* Traces a few additional frames. */
void th_scaling_config_trace(th_scaling_config *config, const th_row *row, th_tracer *tracer);

/* What the config counted in all repetitions of its row; borrows from both. */
th_scale_counts th_scaling_config_counts(const th_scaling_config *config, const th_row *row);

#endif
