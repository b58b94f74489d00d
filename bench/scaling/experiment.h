/* The parts of a scaling experiment: crowds, threads, and configs that combine them. Private to bench. */
#ifndef TH_BENCH_SCALING_EXPERIMENT_H
#define TH_BENCH_SCALING_EXPERIMENT_H

#include "scaling_config.h"
#include "worker_counters.h"

typedef struct th_experiment {
    th_scale_desc desc;        /* with its lists filled in, from: */
    th_scheduler scheduler[1]; /* lists of one value, or the default */
    uint32_t characters[1], grain[1], threads[TH_JOBS_MAX_THREADS];
    uint32_t usable_cpus;
    th_scene **scenes;               /* by number of characters; of weak scaling, then threads */
    th_crowd **crowds;               /* the same */
    th_shared_crowd *shared;         /* the same; NULL: poses are not shared. Then: */
    th_pose_counts *counts;          /* the same, in the checked frame */
    th_scene *evaluated_scenes[2];   /* characters whose poses are evaluated in it, at each part, and */
    th_crowd *evaluated[2];          /* their crowds: what ablations pose */
    th_jobs **pools;                 /* by scheduler, then threads */
    void *palette;                   /* room for the largest crowd */
    th_batch_crowds batch_crowds[2]; /* of the crowd at each part; the second one only if it is another */
    /* Of the points; then of the ablations of the first curve, by point, then ablation. */
    th_scaling_config *configs;
    th_recording recording;
    th_worker_counts *worker_counts; /* NULL: nothing is counted */
    th_scale *out;
} th_experiment;

/* Poses in a frame of the crowd with this index. */
th_pose_counts th_experiment_counts(const th_experiment *experiment, uint32_t crowd);

/* Lays out the curves, points, ablations and memory of `out`, which must be zero, and makes everything that runs. Call
 * th_experiment_fini in the end, even if it failed. */
th_result th_experiment_init(th_experiment *experiment, const th_scale_desc *desc, th_scale *out, th_error *err);
void th_experiment_fini(th_experiment *experiment);

/* The index in `crowds` of the crowd of a curve's point, counted from 0. */
uint32_t th_experiment_crowd(const th_experiment *experiment, uint32_t curve, uint32_t point);

/* The same at ablations `part`. */
uint32_t th_experiment_part_crowd(const th_experiment *experiment, uint32_t part);

uint32_t th_experiment_config_count(const th_experiment *experiment);

/* The point of the first curve where ablations `part` run: the first point, or the one with most threads that is not
 * oversubscribed. */
uint32_t th_scale_part_point(const th_scale *scale, uint32_t part);

/* The row, and the config, of an ablation; and the row of a bandwidth. */
uint32_t th_scale_part_row(const th_scale *scale, uint32_t part, th_ablation ablation);
uint32_t th_scale_memory_row(const th_scale *scale, uint32_t index, th_bandwidth_kind kind);

#endif
