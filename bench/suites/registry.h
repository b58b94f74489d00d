/* An entry of the bench: a name, and how to make, run, check and undo what it names. Private to bench. */
#ifndef TH_BENCH_SUITES_REGISTRY_H
#define TH_BENCH_SUITES_REGISTRY_H

#include "fixture.h"

#include <throng/bench/bench.h>
#include <throng/jobs/jobs.h>

typedef struct th_entry th_entry;
struct th_entry {
    char name[64];
    th_isa isa;
    th_palette palette;
    const void *shape;   /* what is done; neighbours of one shape are compared, so they are measured in turn */
    const void *variant; /* who does it */
    bool is_baseline;    /* what the others of its shape are held against */
    /* Makes the scene that was requested for (of compiled clips) that of the entry. NULL: there is none. */
    void (*set_scene)(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc);
    const th_shared_scene *shared; /* what came of it */
    th_result (*create)(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err);
    void *subject; /* what create made */
    /* As those of th_subject; lap, as that of th_measure_desc, is the same for all of a shape. */
    void (*before)(void *subject);
    void (*run)(void *subject, uint64_t frame);
    th_lap (*lap)(void *subject, uint64_t frame);
    void (*after)(void *subject);
    th_jobs *(*pool)(void *subject); /* whose chunks a trace is to have; NULL: empty's */
    /* Adds further figures to the row. baseline: NULL when it is not among what was measured. May be NULL. */
    void (*summarize)(const th_entry *entry, const th_row *baseline, th_row *row);
    void (*destroy)(void *subject);
};

/* Fill in what there is on this machine; return how many. */
uint32_t th_pose_entries(th_entry *entries);   /* pose/ and limit/ */
uint32_t th_interp_entries(th_entry *entries); /* interp/ */
uint32_t th_crowd_entries(th_entry *entries);  /* crowd/, play/ and clips/ */
uint32_t th_jobs_entries(th_entry *entries);   /* jobs/ */
uint32_t th_external_entries(const th_external_benchmarks *external, th_entry *entries);

#endif
