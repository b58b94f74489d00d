/* Benchmark entries that ranks measured at the same time, each on its own: what a core or a socket has left when the
 * others work, too. No MPI here: throng-mpi runs the ranks. */
#ifndef THRONG_BENCH_RANK_BENCH_H
#define THRONG_BENCH_RANK_BENCH_H

#include <throng/bench/rank_scaling.h>
#include <throng/bench/report.h>
#include <throng/core/api.h>

TH_API_BEGIN

typedef struct th_rank_bench {
    const th_report *report;  /* of rank 0: conditions, and what each row is */
    const double *medians_ns; /* of an iteration, as a rank measured it, NaN where it did not: [rank * rows + row] */
    const char (*hosts)[TH_HOST_MAX];     /* [ranks] */
    uint32_t ranks, threads, repetitions; /* threads: of each rank */
    bool is_bound;                        /* each rank has CPUs of its own */
} th_rank_bench;

/* Rows that were skipped are left out. NULL when memory is out. */
json_t *th_rank_bench_json(const th_rank_bench *bench);

/* For people. False when memory is out. */
bool th_rank_bench_print(const th_rank_bench *bench, th_format format, FILE *file);

TH_API_END

#endif
