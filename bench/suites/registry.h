/* The registry of benchmark entries: for each a name, and how to create, run, check and destroy its subject. Private to
 * bench. */
#ifndef TH_BENCH_SUITES_REGISTRY_H
#define TH_BENCH_SUITES_REGISTRY_H

#include "fixture.h"

#include <bench/bench.h>
#include <jobs/jobs.h>
#include <runtime/frame.h>

typedef struct th_entry th_entry;
struct th_entry {
    char name[64];
    th_isa isa;
    th_format palette;
    /* The operation. Adjacent entries with equal `shape` are compared, so their repetitions are interleaved. */
    const void *shape;
    const void *variant; /* the implementation of the operation */
    bool is_baseline;    /* the entry that others of its shape are compared with */
    /* Changes the requested scene (with compiled clips) to that of the entry. NULL: the entry has none. */
    void (*set_scene)(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc);
    bool needs_levels;             /* set_scene reads the fixture's joint levels */
    const th_shared_scene *shared; /* the scene that set_scene described */
    th_result (*create)(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err);
    void *subject; /* what create made */
    /* As in th_subject. lap is as in th_measure_desc and the same for all entries of a shape. */
    void (*before)(void *subject);
    void (*run)(void *subject, uint64_t frame);
    th_lap (*timed_run)(void *subject, uint64_t first, uint32_t iterations);
    th_lap (*lap)(void *subject, uint64_t frame);
    void (*after)(void *subject);
    void (*check)(void *subject, uint64_t frame);
    th_jobs *(*pool)(void *subject); /* the pool to trace; NULL: none */
    /* The frame whose chunks are counted, on the row's threads; it returns NULL where `run` uses the calling thread
     * only. NULL: the entry is not counted. */
    th_frame *(*frame)(void *subject);
    /* Adds fields to the row, or fails it. baseline: NULL when it was not measured. May be NULL. */
    void (*summarize)(const th_entry *entry, const th_row *baseline, th_row *row);
    void (*destroy)(void *subject);
};

/* Fill in the entries that this machine supports; return their number. */
uint32_t th_pose_entries(th_entry *entries);      /* pose/ and limit/ */
uint32_t th_variation_entries(th_entry *entries); /* interp/, crowd/, threads/, play/, clips/ ... share/ */
uint32_t th_reference_entries(th_entry *entries); /* throng-1/ */
uint32_t th_ceiling_entries(th_entry *entries);   /* ceiling/ */
uint32_t th_load_entries(th_entry *entries);      /* import/, compile/, start/, memory/ */
uint32_t th_jobs_entries(th_entry *entries);      /* jobs/ */

#endif
