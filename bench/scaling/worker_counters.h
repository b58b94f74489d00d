/* What the workers of a pool do in a frame: their counters, and one frame chunk by chunk. Private to bench. */
#ifndef TH_BENCH_SCALING_WORKER_COUNTERS_H
#define TH_BENCH_SCALING_WORKER_COUNTERS_H

#include <throng/jobs/jobs.h>

#include <jansson.h>

/* Adds the pool's counters to sums, one for each worker. Between calls only. */
void th_workers_add(const th_jobs *jobs, th_worker_stats *sums);

/* All of them together. */
th_worker_stats th_workers_total(const th_worker_stats *sums, uint32_t count);

/* An object for each worker: averages over that many frames. */
json_t *th_workers_json(const th_worker_stats *sums, uint32_t count, double frames);

/* The chunks of one frame. Every chunk has its own place, so the workers need no lock, and few ever write to the same
 * line of memory. */
typedef struct th_recording {
    th_span *spans; /* by their first item, one call of th_jobs_for after the other; end_ns 0: did not happen */
    uint32_t chunks, calls, grain;
    uint64_t start_ns;
} th_recording;

/* Room for `calls` calls over `count` items in chunks of `grain`. False when memory is out. */
bool th_recording_init(th_recording *recording, uint32_t count, uint32_t grain, uint32_t calls);
void th_recording_fini(th_recording *recording);

/* Records what the pool runs from begin to end, and nothing of what was recorded before stays. Between calls only. */
void th_recording_begin(th_recording *recording, th_jobs *jobs);
void th_recording_end(th_recording *recording, th_jobs *jobs);

/* [worker, begin, end, start_us, end_us] for each chunk; times since th_recording_begin returned. */
json_t *th_recording_json(const th_recording *recording);

#endif
