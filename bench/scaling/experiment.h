/* The parts of a scaling experiment: crowds, threads, and configs that combine them. Private to bench. */
#ifndef TH_BENCH_SCALING_EXPERIMENT_H
#define TH_BENCH_SCALING_EXPERIMENT_H

#include "ablation.h"
#include "measure/untimed_frames.h"
#include "scale_figures.h"
#include "suites/shared_crowd.h"

#include <core/arena.h>

/* Threads that run whole frames, an ablation or the loop, and their counters. What is borrowed is the experiment's. */
typedef struct th_scaling_config {
    th_jobs *jobs;             /* borrowed */
    th_frame *frame;           /* whole frames, or else: */
    th_ablated_frame *ablated; /* an ablation, or else: */
    void *scratch;             /* of the loop, on the calling thread */
    void *palette;             /* the same for all configs; borrowed */
    const th_scene *scene;     /* of the whole frames, and */
    th_crowd *crowd;           /* its crowd; borrowed */
    th_shared_crowd *shared;   /* of that crowd; NULL: each character is posed by itself; borrowed */
    th_row *row;               /* whose samples are rounds */
    th_hash128 palette_sum;    /* of the checked frame */
    /* Before a repetition, waits until the threads of other configs are idle. */
    bool waits_quiescent;
    th_worker_stats *sums; /* [threads]; of all repetitions */
    /* Of each thread in each repetition: [round * threads + thread]; room for so many rounds. */
    th_worker_stats *rounds;
    uint32_t round_capacity;
    th_counters counters;  /* of one frame */
    json_t *counters_json; /* the same by worker; NULL: not counted */
} th_scaling_config;

typedef struct th_experiment {
    th_scale_desc desc;        /* with its lists filled in, from: */
    th_scheduler scheduler[1]; /* lists of one value, or the default */
    uint32_t characters[1], grain[1], threads[TH_JOBS_MAX_THREADS];
    uint32_t usable_cpus;
    uint32_t crowd_count, config_count, part_crowds[2]; /* part_crowds: indices of the crowds at ablations */
    th_arena *arena;                                    /* has all arrays below */
    th_scene **scenes;                                  /* by number of characters; of weak scaling, then threads */
    th_crowd **crowds;                                  /* the same */
    th_shared_crowd *shared;                            /* the same; NULL: poses are not shared */
    th_pose_counts *counts;                             /* the same: poses of the checked frame */
    th_scene *evaluated_scenes[2]; /* characters whose poses are evaluated in it, at each part, and */
    th_crowd *evaluated[2];        /* their crowds: what ablations pose */
    th_jobs **pools;               /* by scheduler, then threads */
    void *palette;                 /* room for the largest crowd */
    /* Of the points; then of the ablations of the first curve, by point, then ablation; then of the loop. */
    th_scaling_config *configs;
    th_span *spans; /* room for the chunks of a frame of the first curve, by their first item */
    uint32_t chunk_count;
    th_worker_counts *worker_counts; /* NULL: nothing is counted */
    th_scale *out;
} th_experiment;

/* Lays out the curves, points, ablations and memory of `out`, which must be zero, and makes everything that runs. Call
 * th_experiment_fini in the end, even if it failed. */
th_result th_experiment_init(th_experiment *experiment, const th_scale_desc *desc, th_scale *out, th_error *err);
void th_experiment_fini(th_experiment *experiment);

/* The index in `crowds` of the crowd of a curve's point, counted from 0. */
uint32_t th_experiment_crowd(const th_experiment *experiment, uint32_t curve, uint32_t point);

/* Whether the loop runs the crowd of a curve whose first point has one thread. */
bool th_experiment_has_loop(const th_experiment *experiment, uint32_t curve);

/* What the config counted in all repetitions of its row; borrows from both. */
th_scale_counts th_scaling_config_counts(const th_scaling_config *config, const th_row *row);

/* The point of the first curve where ablations `part` run: the first point, or the one with most threads that is not
 * oversubscribed. */
uint32_t th_scale_part_point(const th_scale *scale, uint32_t part);

/* The row, and the config, of an ablation and of the loop; and the row of a bandwidth. */
uint32_t th_scale_part_row(const th_scale *scale, uint32_t part, th_ablation ablation);
uint32_t th_scale_loop_row(const th_scale *scale);
uint32_t th_scale_memory_row(const th_scale *scale, uint32_t index, th_bandwidth_kind kind);

/* ---- what follows from the figures (conclusion.c) ---- */

/* Fits the curves: to the repetitions, or with several processes to their medians. Fails when memory is out. */
th_result th_scale_fit(th_scale *scale, th_error *err);

/* Sets th_row.own of all rows. */
void th_scale_describe_rows(th_scale *scale);

/* The bottleneck's input, from figures of this experiment. */
th_bottleneck_input th_scale_input(const th_scale *scale, const th_scale_point *points, const th_scale_parts *parts);

/* Sets the bottleneck. samples: as th_bottleneck_analyze. */
void th_scale_conclude(th_scale *scale, const th_bottleneck_input *samples, uint32_t count, bool are_processes);

/* Resamples whole rounds, sets the intervals of points and the shares of ablations from them, and analyzes the
 * bottleneck. The points and ablations must have their values. Fails when memory is out. */
th_result th_scale_resample(const th_experiment *experiment, th_error *err);

#endif
