/* What the workers of a pool do in a frame: their counters, and the chunks of one frame. Private to bench. */
#ifndef TH_BENCH_SCALING_WORKER_COUNTERS_H
#define TH_BENCH_SCALING_WORKER_COUNTERS_H

#include <throng/jobs/jobs.h>

#include <jansson.h>

/* Adds the pool's counters to `sums`, one for each worker. Call only between calls of the pool. */
void th_workers_add(const th_jobs *jobs, th_worker_stats *sums);

/* The sum over all workers. */
th_worker_stats th_workers_total(const th_worker_stats *sums, uint32_t count);

/* The worker with most work; the first of several. */
uint32_t th_workers_busiest(const th_worker_stats *sums, uint32_t count);

/* Adds all counters to a sum. */
void th_worker_add(th_worker_stats *sum, const th_worker_stats *more);

/* An object for each worker, with averages over `frames` frames. */
json_t *th_workers_json(const th_worker_stats *sums, uint32_t count, double frames);

/* The chunks of one frame. Each chunk has its own slot, so workers need no lock, and they rarely write to the same
 * cache line. */
typedef struct th_recording {
    th_span *spans; /* by their first item; end_ns 0: no such chunk */
    uint32_t chunks, grain;
    uint64_t start_ns;
} th_recording;

/* Room for a call over `count` items in chunks of `grain`. False when memory is out. */
bool th_recording_init(th_recording *recording, uint32_t count, uint32_t grain);
void th_recording_fini(th_recording *recording);

/* Records the pool's chunks from begin to end; begin clears the recording. Call only between calls of the pool. */
void th_recording_begin(th_recording *recording, th_jobs *jobs);
void th_recording_end(th_recording *recording, th_jobs *jobs);

/* [worker, begin, end, start_us, end_us] for each chunk; times relative to th_recording_begin. */
json_t *th_recording_json(const th_recording *recording);

#endif
