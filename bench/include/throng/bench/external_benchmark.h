/* Guests: entries that the program brings along, for the bench to measure what it knows nothing of.
 *
 * They come last in the list and are filtered like the others. */
#ifndef THRONG_BENCH_EXTERNAL_BENCHMARK_H
#define THRONG_BENCH_EXTERNAL_BENCHMARK_H

#include <throng/bench/report.h>
#include <throng/core/api.h>

TH_API_BEGIN

typedef struct th_external_benchmark th_external_benchmark;
struct th_external_benchmark {
    const char *name;  /* "what/how", shorter than 64 bytes */
    const void *what;  /* theirs, for create */
    const void *shape; /* neighbours of one shape are compared: made together, measured in turn, destroyed together */
    bool is_baseline;  /* what the others of its shape are held against; one of them at most */
    /* Makes what is measured, and fills in the row's unit, threads, characters and bones, its `failure` where a check
     * fails. When it fails itself, the entry is left out and the reason goes into the report. What it left in *out is
     * destroyed in either case. The row outlives it. */
    th_result (*create)(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err);
    /* As those of th_subject. */
    void (*before)(void *subject);
    void (*run)(void *subject, uint64_t frame);
    void (*after)(void *subject);
    /* Adds further figures to the row. baseline: NULL when it is not among what was measured. */
    void (*summarize)(void *subject, const th_row *baseline, th_row *row);
    void (*destroy)(void *subject);
};

typedef struct th_external_benchmarks {
    const th_external_benchmark *entries;
    uint32_t count;
    void *ctx;                      /* theirs, for create; not needed to list them */
    json_t *(*describe)(void *ctx); /* th_report.picture, once all is measured; NULL: there is nothing to say */
} th_external_benchmarks;

TH_API_END

#endif
