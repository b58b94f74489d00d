/* One call of th_jobs_for as the schedulers see it, and what their workers count. */
#ifndef TH_JOBS_JOB_H
#define TH_JOBS_JOB_H

#include <throng/jobs.h>

#include <stdalign.h>
#include <stdatomic.h>

/* Two cache lines, because x86 fetches them in pairs: what different threads write lies this far apart. */
#define TH_LINE_BYTES 128

typedef struct th_job {
    th_jobs_fn *fn;
    void *ctx;
    uint32_t count; /* items, at least 1 */
    uint32_t grain; /* items a chunk, at least 1; the last chunk may have fewer */
} th_job;

/* At least 1. */
static inline uint32_t th_job_chunks(const th_job *job)
{
    return (job->count - 1) / job->grain + 1;
}

/* Written by its worker alone. All but `parks` change only inside a job, whose end publishes them; a worker goes to
 * sleep at any time, so `parks` is atomic (relaxed, with no partner: a mere count). */
typedef struct th_tally {
    alignas(TH_LINE_BYTES) uint64_t busy_ns;
    uint64_t chunks;
    uint64_t items;
    uint64_t steals;
    _Atomic(uint64_t) parks;
} th_tally;

/* Runs `length` items from `begin` on, cut off at the end of the job, chunk by chunk. */
static inline void th_job_run(const th_job *job, uint32_t begin, uint32_t length, uint32_t worker, th_tally *tally)
{
    const uint32_t rest = job->count - begin;
    const uint32_t end = begin + (length < rest ? length : rest);
    while (begin < end) {
        const uint32_t items = end - begin < job->grain ? end - begin : job->grain;
        job->fn(begin, begin + items, worker, job->ctx);
        begin += items;
        tally->items += items;
        tally->chunks++;
    }
}

#endif
