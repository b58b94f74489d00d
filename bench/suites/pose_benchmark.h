/* A poser: one crowd, one method to pose it frame by frame. Private to bench. */
#ifndef TH_BENCH_SUITES_POSE_BENCHMARK_H
#define TH_BENCH_SUITES_POSE_BENCHMARK_H

#include "registry.h"

#include <throng/bench/tutorial.h>

typedef struct th_pose_benchmark {
    const th_shared_scene *shared;
    th_crowd *crowd;
    void *palette, *scratch;
    void (*run)(void *subject, uint64_t frame); /* the entry's */
    double (*time_s)(uint64_t frame);           /* of the scene */
    th_tutorial **tutorials;                    /* one for each model, or NULL */
} th_pose_benchmark;

/* For th_entry.set_scene: the scene as it was requested for. */
void th_pose_benchmark_keep_scene(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc);

/* For th_entry.create: a crowd on the entry's instruction shared, checked. */
th_result th_pose_benchmark_create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                                   th_error *err);

/* Its two halves, for entries that are something else than that. */
th_result th_pose_benchmark_init(th_entry *entry, const th_fixture *fixture, th_row *row, th_error *err);
th_result th_pose_benchmark_validate(const th_entry *entry, const th_fixture *fixture, th_row *row, th_error *err);

/* For th_entry.before: a frame. All entries write to the same memory, and what another one left of that in the caches,
 * or did not leave there, is not this one's cost. */
void th_pose_benchmark_begin(void *subject);

/* For th_entry.run and .destroy. */
void th_pose_benchmark_run(void *subject, uint64_t frame);
void th_pose_benchmark_destroy(void *subject);

#endif
