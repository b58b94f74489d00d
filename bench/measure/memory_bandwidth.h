/* Traffic: threads that do nothing but write or read a block of memory. Private to bench. */
#ifndef TH_BENCH_MEASURE_MEMORY_BANDWIDTH_H
#define TH_BENCH_MEASURE_MEMORY_BANDWIDTH_H

#include <throng/bench/scale.h>

/* So many, the first ones, are there in this build. */
uint32_t th_bandwidth_kind_count(void);

/* Up to whole chunks. */
size_t th_bandwidth_round(size_t bytes);

typedef struct th_bandwidth_desc {
    th_jobs *const *pools; /* on whose threads; the last one has the most */
    uint32_t pool_count;
    bool waits_quiescent; /* as th_scaling_config */
    size_t bytes;         /* of the block; rounded */
    th_measure_desc measure;
} th_bandwidth_desc;

/* Fills in a row for each pool and kind, by pool: an iteration moves the whole block once. */
th_result th_bandwidth_measure(const th_bandwidth_desc *desc, th_row *rows, th_error *err);

#endif
