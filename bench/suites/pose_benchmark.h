/* A poser: one crowd, one way to pose it frame by frame. Private to bench. */
#ifndef TH_BENCH_SUITES_POSE_BENCHMARK_H
#define TH_BENCH_SUITES_POSE_BENCHMARK_H

#include "registry.h"

#include <throng/bench/tutorial.h>

typedef struct th_poser {
    const th_set *set;
    th_crowd *crowd;
    void *palette, *scratch;
    void (*run)(void *subject, uint64_t frame); /* the entry's */
    double (*time_s)(uint64_t frame);           /* of the scene */
    th_tutorial **tutorials;                    /* one for each rig, or NULL */
} th_poser;

/* For th_entry.cast: the scene as it was asked for. */
void th_poser_as_asked(const th_entry *entry, const th_stage *stage, th_scene_desc *desc);

/* For th_entry.create: a crowd on the entry's instruction set, checked. */
th_result th_poser_create(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                          th_error *err);

/* Its two halves, for entries that are something else than that. */
th_result th_poser_init(th_entry *entry, const th_stage *stage, th_row *row, th_error *err);
th_result th_poser_check(const th_entry *entry, const th_stage *stage, th_row *row, th_error *err);

/* For th_entry.before: a frame. All entries write to the same memory, and what another one left of that in the caches,
 * or did not leave there, is not this one's cost. */
void th_poser_begin(void *subject);

/* For th_entry.run and .destroy. */
void th_poser_run(void *subject, uint64_t frame);
void th_poser_destroy(void *subject);

#endif
