/* External benchmarks: entries that the program adds to those of this library, such as frames that are drawn, or
 * another program's poses.
 *
 * They are filtered like the others. */
#ifndef THRONG_BENCH_EXTERNAL_BENCHMARK_H
#define THRONG_BENCH_EXTERNAL_BENCHMARK_H

#include <bench/measure.h>
#include <throng/core/api.h>

TH_API_BEGIN

typedef struct th_external_benchmark th_external_benchmark;
struct th_external_benchmark {
    const char *name; /* "what/how", shorter than 64 bytes */
    const void *what; /* the program's, for create */
    /* Adjacent entries with equal `shape` are compared: created together, measured interleaved, destroyed together.
     * NULL: compared with pose/ and limit/ and listed behind them; all others come last. */
    const void *shape;
    bool is_baseline; /* the entry that others of its shape are compared with; at most one */
    /* Creates the subject. Fills in the row's unit, threads, characters and bones, and `failure` if a check fails. If
     * create itself fails, the entry is left out and the reason goes into the report. *out is destroyed in either case;
     * the row outlives it. */
    th_result (*create)(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err);
    /* As in th_subject. */
    void (*before)(void *subject);
    void (*run)(void *subject, uint64_t frame);
    th_lap (*timed_run)(void *subject, uint64_t first, uint32_t iterations);
    void (*after)(void *subject);
    /* Adds fields to the row. baseline: NULL when it was not measured. */
    void (*summarize)(void *subject, const th_row *baseline, th_row *row);
    void (*destroy)(void *subject);
};

typedef struct th_external_benchmarks {
    const th_external_benchmark *entries;
    uint32_t count;
    void *ctx;                      /* the program's, for create; not used to list entries */
    json_t *(*describe)(void *ctx); /* th_report.picture, called after each comparison; NULL: no picture */
} th_external_benchmarks;

TH_API_END

#endif
