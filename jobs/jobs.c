/* The public functions: checks, defaults, serialisation of calls, nested calls, statistics. The work is done by pool.c,
 * by a registered scheduler (scheduler.c) or by the sequential loop below. */
#include <jobs/jobs.h>

#include "clock.h"
#include "job.h"
#include "pool.h"
#include "scheduler.h"
#include "topology/placement.h"

#include <core/error.h>
#include <core/text_format.h>

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct th_jobs {
    th_scheduler scheduler;
    uint32_t threads;
    th_pool *pool;               /* TH_SCHEDULER_WORK_STEALING with more than one thread, else NULL */
    const th_scheduler_ops *ops; /* of a registered scheduler, once its threads run; else NULL */
    void *other;                 /* created by ops */
    th_affinity *affinity;       /* NULL: workers are not placed */
    pthread_mutex_t turn;
    uint64_t called; /* ticks spent in outermost calls; guarded by `turn` */
    th_trace trace;
    th_worker_counters worker_counters[]; /* one per thread */
};

/* Returns 0 or an errno value; then nothing is left behind. */
static int create(const th_jobs_desc *desc, uint32_t threads, th_jobs **out)
{
    const size_t bytes = sizeof(th_jobs) + threads * sizeof(th_worker_counters);
    th_jobs *jobs = aligned_alloc(TH_FALSE_SHARING_BYTES, bytes);
    if (!jobs)
        return ENOMEM;
    memset(jobs, 0, bytes);
    jobs->scheduler = desc->scheduler;
    jobs->threads = threads;
    pthread_mutex_init(&jobs->turn, NULL);
    int error = 0;
    if (threads > 1)
        error = th_pool_create(jobs, threads, jobs->worker_counters, &jobs->pool);
    if (jobs->pool && desc->scheduler != TH_SCHEDULER_WORK_STEALING) {
        /* The other runtimes end the process if the system refuses a thread. So the same number of threads was started
         * first. */
        th_pool_destroy(jobs->pool);
        jobs->pool = NULL;
        memset(jobs->worker_counters, 0, threads * sizeof *jobs->worker_counters);
        const th_scheduler_ops *ops = th_scheduler_find(desc->scheduler);
        assert(ops); /* it is available */
        error = ops->create(threads, &jobs->other);
        jobs->ops = error ? NULL : ops;
    }
    if (!error && threads > 1) {
        pthread_t workers[TH_JOBS_MAX_THREADS];
        if (jobs->pool)
            th_pool_threads(jobs->pool, workers);
        error = th_affinity_create(desc->placement, threads - 1, jobs->pool ? workers : NULL, &jobs->affinity);
    }
    if (error) {
        th_jobs_destroy(jobs);
        return error;
    }
    *out = jobs;
    return 0;
}

/* What of the desc cannot be, whatever the machine: programs pass on what their users ask for, so no build asserts. */
static th_result check(const th_jobs_desc *desc, th_error *err)
{
    if (desc->threads > TH_JOBS_MAX_THREADS)
        return th_fail(err, TH_ERR_LIMIT, "%u threads are more than %u", desc->threads, TH_JOBS_MAX_THREADS);
    if ((uint32_t)desc->scheduler >= TH_SCHEDULER_COUNT || (uint32_t)desc->placement >= TH_PLACEMENT_COUNT)
        return th_fail(err, TH_ERR_USAGE, "scheduler %d or placement %d does not exist", (int)desc->scheduler,
                       (int)desc->placement);
    if (!th_scheduler_available(desc->scheduler))
        return th_fail(err, TH_ERR_ENVIRONMENT, "this build has no scheduler %s", th_scheduler_name(desc->scheduler));
    return TH_OK;
}

th_result th_jobs_create(const th_jobs_desc *desc, th_jobs **out, th_error *err)
{
    if (out)
        *out = NULL;
    if (!TH_VALID(desc && out && th_reserved_is_zero(desc->reserved)))
        return th_fail(err, TH_ERR_USAGE, "a pool has a desc, reserved zero, and a place to be written to");
    const th_result result = check(desc, err);
    if (result != TH_OK)
        return result;

    th_clock_init();
    uint32_t threads = desc->scheduler == TH_SCHEDULER_SERIAL ? 1 : desc->threads;
    if (threads == 0) {
        const uint32_t usable = th_cpus_read().usable;
        threads = usable < TH_JOBS_MAX_THREADS ? usable : TH_JOBS_MAX_THREADS;
    }
    const int error = create(desc, threads, out);
    switch (error) {
    case 0:
        return TH_OK;
    case ENOMEM:
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u thread%s", threads, th_plural(threads));
    default:
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s %u thread%s: %s",
                       error == EAGAIN ? "the system refuses" : "cannot start or place", threads, th_plural(threads),
                       strerror(error));
    }
}

void th_jobs_destroy(th_jobs *jobs)
{
    if (!jobs || !TH_VALID(!th_worker_tls_find(jobs))) /* from inside fn it would wait for itself */
        return;
    pthread_mutex_lock(&jobs->turn);
    pthread_mutex_unlock(&jobs->turn);
    pthread_mutex_destroy(&jobs->turn);
    th_pool_destroy(jobs->pool);
    if (jobs->ops)
        jobs->ops->destroy(jobs->other);
    th_affinity_destroy(jobs->affinity);
    free(jobs);
}

uint32_t th_jobs_threads(const th_jobs *jobs)
{
    return TH_VALID(jobs) ? jobs->threads : 0;
}

static const th_trace *trace_of(const th_jobs *jobs)
{
    return jobs->trace.fn ? &jobs->trace : NULL;
}

int th_jobs_run(th_jobs *jobs, const th_job *job)
{
    if (!TH_VALID(jobs && job && job->fn))
        return EINVAL;
    if (job->count == 0)
        return 0;
    th_call call = {.job = *job};
    call.job.grain = job->grain ? job->grain : 1;
    const th_worker_tls *within = th_worker_tls_find(jobs);
    if (within) { /* a nested call; afterwards the enclosing chunk continues at its old mark */
        th_worker_counters *counters = &jobs->worker_counters[within->worker];
        const uint64_t mark = counters->mark;
        counters->mark = th_clock_ticks();
        call.trace = trace_of(jobs);
        th_call_run(&call, 0, call.job.count, within->worker, counters);
        counters->mark = mark;
        return call.error;
    }

    int error;
    th_worker_tls tls;
    pthread_mutex_lock(&jobs->turn);
    th_worker_tls_enter(&tls, jobs, 0);
    const uint64_t start = th_clock_ticks();
    th_affinity_avoid_caller(jobs->affinity);
    call.trace = trace_of(jobs);
    if (jobs->threads == 1 || call.job.count <= call.job.grain) {
        const uint64_t from = th_worker_counters_begin(&jobs->worker_counters[0]);
        th_call_run(&call, 0, call.job.count, 0, &jobs->worker_counters[0]);
        th_worker_counters_end(&jobs->worker_counters[0], from, start);
        error = call.error;
    } else if (jobs->ops) {
        th_loop loop = {.jobs = jobs,
                        .threads = jobs->threads,
                        .call = {.job = call.job, .trace = call.trace},
                        .worker_counters = jobs->worker_counters,
                        .affinity = jobs->affinity,
                        .start = start};
        error = jobs->ops->run(jobs->other, &loop);
        error = loop.call.error ? loop.call.error : error;
    } else {
        error = th_pool_run(jobs->pool, &call.job, call.trace, start);
    }
    jobs->called += th_clock_ticks() - start;
    th_worker_tls_leave(&tls);
    pthread_mutex_unlock(&jobs->turn);
    return error;
}

void th_jobs_partition(uint32_t threads, uint32_t count, uint32_t grain, const uint32_t *costs, uint32_t *partition)
{
    assert(threads >= 1 && threads <= TH_JOBS_MAX_THREADS);
    assert((costs || count == 0) && (partition || threads == 1));
    uint64_t sum = 0, before = 0;
    uint32_t next = 1;
    grain = grain ? grain : 1;
    for (uint32_t i = 0; i < count; i++)
        sum += costs[i];
    assert(sum >> 56 == 0);
    for (uint32_t i = 0; i < count; i++) {
        /* The first chunk whose predecessors hold the work of the workers before. */
        while (i % grain == 0 && next < threads && before * threads >= sum * next)
            partition[next++ - 1] = i;
        before += costs[i];
    }
    while (next < threads)
        partition[next++ - 1] = count;
}

void th_jobs_frame_begin(th_jobs *jobs)
{
    if (!TH_VALID(jobs) || !jobs->pool)
        return;
    if (pthread_mutex_trylock(&jobs->turn) ==
        0) { /* otherwise another thread's call is in progress, which has done it */
        th_affinity_avoid_caller(jobs->affinity);
        pthread_mutex_unlock(&jobs->turn);
    }
    th_pool_frame_begin(jobs->pool);
}

void th_jobs_frame_end(th_jobs *jobs)
{
    if (TH_VALID(jobs) && jobs->pool)
        th_pool_frame_end(jobs->pool);
}

/* The clocks of two CPUs may differ by some nanoseconds. */
static uint64_t rest_of(uint64_t whole, uint64_t part)
{
    return part < whole ? whole - part : 0;
}

void th_jobs_stats(const th_jobs *jobs, th_worker_stats *out)
{
    assert(jobs && out);
    assert(!th_worker_tls_find(jobs)); /* called from inside fn */
    const th_clock_rate rate = th_clock_rate_read();
    const uint64_t called_ns = th_clock_duration_ns(&rate, jobs->called);
    for (uint32_t i = 0; i < jobs->threads; i++) {
        const th_worker_counters *counters = &jobs->worker_counters[i];
        const uint64_t busy_ns = th_clock_duration_ns(&rate, counters->busy);
        out[i] = (th_worker_stats){
            .busy_ns = busy_ns,
            .idle_ns = rest_of(called_ns, busy_ns),
            .idle_at_end_ns = rest_of(called_ns, th_clock_duration_ns(&rate, counters->span)),
            .chunks = counters->chunks,
            .items = counters->items,
            .steals = counters->steals,
            .misses = atomic_load_explicit(&counters->misses, memory_order_relaxed),
            .parks = atomic_load_explicit(&counters->parks, memory_order_relaxed),
            .wakes = atomic_load_explicit(&counters->wakes, memory_order_relaxed),
            .wake_ns = th_clock_duration_ns(&rate, atomic_load_explicit(&counters->wake, memory_order_relaxed)),
        };
    }
}

void th_jobs_stats_reset(th_jobs *jobs)
{
    assert(jobs);
    assert(!th_worker_tls_find(jobs));
    jobs->called = 0;
    for (uint32_t i = 0; i < jobs->threads; i++) {
        th_worker_counters *counters = &jobs->worker_counters[i];
        counters->busy = counters->span = counters->chunks = counters->items = counters->steals = 0;
        atomic_store_explicit(&counters->misses, 0, memory_order_relaxed);
        atomic_store_explicit(&counters->parks, 0, memory_order_relaxed);
        atomic_store_explicit(&counters->wakes, 0, memory_order_relaxed);
        atomic_store_explicit(&counters->wake, 0, memory_order_relaxed);
    }
}

void th_jobs_trace(th_jobs *jobs, th_trace_fn *fn, void *ctx)
{
    assert(jobs);
    assert(!th_worker_tls_find(jobs));
    jobs->trace = (th_trace){.fn = fn, .ctx = ctx, .rate = th_clock_rate_read()};
}

void th_call_trace(const th_call *call, uint32_t begin, uint32_t end, uint32_t worker, th_worker_counters *counters)
{
    assert(call->trace && call->trace->fn);
    assert(begin < end && end <= call->job.count);
    const th_trace *trace = call->trace;
    const uint64_t start = counters->mark;
    counters->mark = th_clock_ticks();
    const th_span span = {
        .start_ns = th_clock_moment_ns(&trace->rate, start),
        .end_ns = th_clock_moment_ns(&trace->rate, counters->mark),
        .begin = begin,
        .end = end,
        .worker = worker,
    };
    trace->fn(&span, trace->ctx);
}

/* ---- which worker this thread is ---- */

static _Thread_local const th_worker_tls *innermost;

void th_worker_tls_enter(th_worker_tls *tls, const th_jobs *jobs, uint32_t worker)
{
    assert(tls && jobs && worker < TH_JOBS_MAX_THREADS);
    *tls = (th_worker_tls){.jobs = jobs, .worker = worker, .outer = innermost};
    innermost = tls;
}

void th_worker_tls_leave(const th_worker_tls *tls)
{
    assert(innermost == tls); /* records are left in the reverse order */
    innermost = tls->outer;
}

const th_worker_tls *th_worker_tls_find(const th_jobs *jobs)
{
    const th_worker_tls *tls = innermost;
    while (tls && tls->jobs != jobs)
        tls = tls->outer;
    return tls;
}
