/* What a scaling experiment is made of: crowds, threads, and configs that bring them together. Private to bench. */
#ifndef TH_BENCH_SCALING_EXPERIMENT_H
#define TH_BENCH_SCALING_EXPERIMENT_H

#include "scaling_config.h"
#include "worker_counters.h"

typedef struct th_experiment {
    th_scale_desc desc;        /* with its lists filled in: */
    th_scheduler scheduler[1]; /* those of one value, or the default */
    uint32_t characters[1], grain[1], threads[TH_JOBS_MAX_THREADS];
    uint32_t usable_cpus;
    th_scene **scenes;            /* one for each number of characters, */
    th_crowd **crowds;            /* likewise */
    th_jobs **pools;              /* by scheduler, then threads */
    void *palette;                /* room for the largest crowd */
    th_batch_crowds batch_crowds; /* of the first crowd */
    th_scaling_config *configs;   /* of the points; then of the parts of the first curve, by point, then ablation */
    th_recording recording;
    th_scale *out;
} th_experiment;

/* Lays out the curves, points, parts and memory of `out`, which is zero, and makes all that runs. th_experiment_fini in
 * the end, whatever comes back. */
th_result th_experiment_init(th_experiment *experiment, const th_scale_desc *desc, th_scale *out, th_error *err);
void th_experiment_fini(th_experiment *experiment);

/* The place of a curve's crowd among the numbers of characters. */
uint32_t th_experiment_crowd(const th_experiment *experiment, uint32_t curve);

/* The point of the first curve that a part belongs to: the first, or the one that has most threads with a CPU each. */
uint32_t th_experiment_part_point(const th_experiment *experiment, uint32_t part);

uint32_t th_experiment_config_count(const th_experiment *experiment);
uint32_t th_experiment_part_config(const th_experiment *experiment, uint32_t part, th_ablation ablation);

#endif
