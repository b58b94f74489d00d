/* Memory bandwidth: threads that only write or read a block of memory. Private to bench. */
#ifndef TH_BENCH_MEASURE_MEMORY_BANDWIDTH_H
#define TH_BENCH_MEASURE_MEMORY_BANDWIDTH_H

#include <bench/scale.h>

/* The number of kinds that this build supports; they are the first ones. */
uint32_t th_bandwidth_kind_count(void);

/* Rounds up to whole chunks. */
size_t th_bandwidth_round(size_t bytes);

typedef struct th_bandwidth_desc {
    th_jobs *const *pools; /* to run on; the last one has the most threads */
    uint32_t pool_count;
    bool waits_quiescent; /* as th_scaling_config */
    size_t bytes;         /* of the block; as th_bandwidth_round returns it */
    th_measure_desc measure;
} th_bandwidth_desc;

/* CPU time in nanoseconds in which the C library or plain stores, whatever is faster, write `bytes` bytes, about
 * `piece` by `piece`, at least 16; streams: past the caches. What limits are held against: it shares nothing with them.
 * Limits and this differ by less than TH_PLAIN_WRITE_MOST times. */
#define TH_PLAIN_WRITE_MOST 1.5
double th_plain_write_ns(void *at, size_t bytes, size_t piece, bool streams);

/* Fills in a row for each pool and kind, by pool: an iteration moves the whole block once. */
th_result th_bandwidth_measure(const th_bandwidth_desc *desc, th_row *rows, th_error *err);

#endif
