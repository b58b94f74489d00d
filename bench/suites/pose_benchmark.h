/* Poses one crowd frame by frame, by one method. Private to bench. */
#ifndef TH_BENCH_SUITES_POSE_BENCHMARK_H
#define TH_BENCH_SUITES_POSE_BENCHMARK_H

#include "registry.h"

#include <bench/tutorial.h>

typedef struct th_pose_benchmark {
    const th_shared_scene *shared;
    th_crowd *crowd;
    void *palette, *scratch;
    void (*run)(void *subject, uint64_t frame); /* the entry's run */
    double (*time_s)(uint64_t frame);           /* scene time of a frame */
    /* Of entries that play layers, otherwise NULL: those of a frame, valid until the next call. */
    const th_crowd_layers *(*layers_at)(void *subject, uint64_t frame);
    struct th_layer_mix *mix;
    struct th_shared_crowd *sharing; /* of entries whose characters share poses, otherwise NULL */
    th_jobs *jobs;                   /* of entries that share, or pose on several threads, otherwise NULL */
    struct th_frame *frame;
    th_tutorial **tutorials; /* [model], or NULL */
    th_row *row;             /* of the entry */
} th_pose_benchmark;

/* For th_entry.set_scene: leaves the requested scene as it is. */
void th_pose_benchmark_keep_scene(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc);

/* For th_entry.create: a crowd on the entry's instruction set, checked. */
th_result th_pose_benchmark_create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                                   th_error *err);

/* The two halves of create, for entries that differ in between. */
th_result th_pose_benchmark_init(th_entry *entry, const th_fixture *fixture, th_row *row, th_error *err);
th_result th_pose_benchmark_validate(th_entry *entry, const th_fixture *fixture, th_row *row, th_error *err);

/* For th_entry.before: runs one frame. All entries write to the same memory, so this removes the effect of the cache
 * contents that another entry left. */
void th_pose_benchmark_begin(void *subject);

/* For th_entry.run and .destroy. */
void th_pose_benchmark_run(void *subject, uint64_t frame);
void th_pose_benchmark_destroy(void *subject);

#endif
