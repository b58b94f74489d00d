/* A call as schedulers see it, the counters of their workers, and who is one. */
#ifndef TH_JOBS_JOB_H
#define TH_JOBS_JOB_H

#include "clock.h"

#include <jobs/jobs.h>

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>

/* Two cache lines, because x86 fetches lines in pairs: data written by different threads is this far apart. */
#define TH_FALSE_SHARING_BYTES 128

typedef struct th_trace {
    th_trace_fn *fn; /* NULL: off */
    void *ctx;
    th_clock_rate rate;
} th_trace;

/* A call in progress, shared by all threads that work on it. */
typedef struct th_call {
    th_job job;            /* count and grain are at least 1 */
    const th_trace *trace; /* NULL: off */
    _Atomic(int) error; /* of the first chunk that failed; relaxed: the value is read only after the end of the call */
} th_call;

static inline uint32_t th_job_chunks(const th_job *job)
{
    assert(job->count > 0 && job->grain > 0);
    return (job->count - 1) / job->grain + 1;
}

/* Written only by its worker. All but the last four members change only inside a call, whose end publishes them. A
 * worker spins in vain, sleeps and wakes at any time, so those four are atomic (relaxed, without a partner: they are
 * just counters). Times in ticks. */
typedef struct th_worker_counters {
    alignas(TH_FALSE_SHARING_BYTES) uint64_t busy;
    uint64_t span; /* from the start of each call to the end of the worker's last chunk in it */
    uint64_t mark; /* when the current chunk began; for the trace */
    uint64_t end;  /* of the worker's last range, for schedulers that give it several per call */
    uint64_t chunks;
    uint64_t items;
    uint64_t steals;
    _Atomic(uint64_t) misses;
    _Atomic(uint64_t) parks;
    _Atomic(uint64_t) wakes;
    _Atomic(uint64_t) wake;
} th_worker_counters;

static inline void th_counter_add(_Atomic(uint64_t) *count, uint64_t more)
{
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

/* Adds the time between two moments, in ticks, to the worker's counters. call_start: of the call, or the end of the
 * worker's previous range in the same call. */
static inline void th_worker_counters_add_time(th_worker_counters *counters, uint64_t begin, uint64_t end,
                                               uint64_t call_start)
{
    counters->busy += end - begin;
    counters->span += end - call_start;
}

/* Call around a range of chunks. begin: the result of th_worker_counters_begin. Returns the end. */
static inline uint64_t th_worker_counters_begin(th_worker_counters *counters)
{
    return counters->mark = th_clock_ticks();
}

static inline uint64_t th_worker_counters_end(th_worker_counters *counters, uint64_t begin, uint64_t call_start)
{
    const uint64_t end = th_clock_ticks();
    th_worker_counters_add_time(counters, begin, end, call_start);
    return end;
}

void th_call_trace(const th_call *call, uint32_t begin, uint32_t end, uint32_t worker, th_worker_counters *counters);

static inline void th_call_fail(th_call *call, int error)
{
    assert(error != 0);
    int none = 0;
    atomic_compare_exchange_strong_explicit(&call->error, &none, error, memory_order_relaxed, memory_order_relaxed);
}

/* Runs `length` items from `begin` on, chunk by chunk, until one fails or the items of the job end. */
static inline void th_call_run(th_call *call, uint32_t begin, uint32_t length, uint32_t worker,
                               th_worker_counters *counters)
{
    const th_job job = call->job;
    assert(job.grain > 0 && begin <= job.count);
    const uint32_t rest = job.count - begin;
    const uint32_t end = begin + (length < rest ? length : rest);
    while (begin < end && atomic_load_explicit(&call->error, memory_order_relaxed) == 0) {
        const uint32_t next = end - begin > job.grain ? begin + job.grain : end;
        const int error = job.fn(begin, next, worker, job.ctx);
        counters->chunks++;
        counters->items += next - begin;
        if (call->trace)
            th_call_trace(call, begin, next, worker, counters);
        if (error)
            th_call_fail(call, error);
        begin = next;
    }
}

/* Which worker of which pool the running thread is, so that a nested call can detect that it is one.
 *
 * A list, innermost first, because a job of one pool may call another. The records are on the stacks of their
 * threads. */
typedef struct th_worker_tls {
    const th_jobs *jobs;
    uint32_t worker;
    const struct th_worker_tls *outer;
} th_worker_tls;

void th_worker_tls_enter(th_worker_tls *tls, const th_jobs *jobs, uint32_t worker);
void th_worker_tls_leave(const th_worker_tls *tls);

/* NULL if the thread is not inside a job of this pool. */
const th_worker_tls *th_worker_tls_find(const th_jobs *jobs);

#endif
