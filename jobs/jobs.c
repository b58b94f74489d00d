/* The public functions: checks, defaults, turns, nested calls, statistics. The work is done by pool.c, openmp.c or the
 * plain loop below. */
#include <throng/jobs.h>

#include "clock.h"
#include "job.h"
#include "openmp.h"
#include "pool.h"
#include "role.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct th_jobs {
    th_scheduler scheduler;
    uint32_t threads;
    th_pool *pool; /* TH_SCHEDULER_OWN with more than one thread, else NULL */
    pthread_mutex_t turn;
    uint64_t called_ns; /* spent in outermost calls; guarded by `turn` */
    th_tally tallies[]; /* one a thread */
};

const char *th_scheduler_name(th_scheduler scheduler)
{
    static const char *const names[] = {
        [TH_SCHEDULER_OWN] = "own",
        [TH_SCHEDULER_SERIAL] = "serial",
        [TH_SCHEDULER_OPENMP] = "openmp",
    };
    _Static_assert(sizeof names / sizeof *names == TH_SCHEDULER_COUNT, "every scheduler has a name");
    return (uint32_t)scheduler < TH_SCHEDULER_COUNT ? names[scheduler] : "unknown";
}

bool th_scheduler_available(th_scheduler scheduler)
{
    return (uint32_t)scheduler < TH_SCHEDULER_COUNT && (scheduler != TH_SCHEDULER_OPENMP || th_openmp_available());
}

static uint32_t resolve_threads(const th_jobs_desc *desc)
{
    if (desc->scheduler == TH_SCHEDULER_SERIAL)
        return 1;
    if (desc->threads > 0)
        return desc->threads;
    const uint32_t usable = th_cpus_read().usable;
    return usable < TH_JOBS_MAX_THREADS ? usable : TH_JOBS_MAX_THREADS;
}

int th_jobs_create(const th_jobs_desc *desc, th_jobs **out)
{
    *out = NULL;
    if (desc->threads > TH_JOBS_MAX_THREADS || (uint32_t)desc->scheduler >= TH_SCHEDULER_COUNT ||
        (uint32_t)desc->placement > TH_PLACEMENT_WORKERS)
        return EINVAL;
    if (!th_scheduler_available(desc->scheduler))
        return ENOTSUP;

    const uint32_t threads = resolve_threads(desc);
    if (desc->scheduler == TH_SCHEDULER_OPENMP && th_openmp_team(threads) < threads)
        return EAGAIN;
    const size_t bytes = sizeof(th_jobs) + threads * sizeof(th_tally);
    th_jobs *jobs = aligned_alloc(TH_LINE_BYTES, bytes);
    if (!jobs)
        return ENOMEM;
    memset(jobs, 0, bytes);
    jobs->scheduler = desc->scheduler;
    jobs->threads = threads;
    if (desc->scheduler == TH_SCHEDULER_OWN && threads > 1) {
        const int error = th_pool_create(jobs, threads, desc->placement, jobs->tallies, &jobs->pool);
        if (error) {
            free(jobs);
            return error;
        }
    }
    pthread_mutex_init(&jobs->turn, NULL);
    *out = jobs;
    return 0;
}

void th_jobs_destroy(th_jobs *jobs)
{
    if (!jobs)
        return;
    assert(!th_role_find(jobs)); /* from inside fn it would wait for itself */
    pthread_mutex_lock(&jobs->turn);
    pthread_mutex_unlock(&jobs->turn);
    pthread_mutex_destroy(&jobs->turn);
    th_pool_destroy(jobs->pool);
    free(jobs);
}

uint32_t th_jobs_threads(const th_jobs *jobs)
{
    return jobs->threads;
}

static void run_alone(const th_job *job, th_tally *tally)
{
    const uint64_t start_ns = th_clock_ns();
    th_job_run(job, 0, job->count, 0, tally);
    tally->busy_ns += th_clock_ns() - start_ns;
}

static void take_turn(th_jobs *jobs, const th_job *job)
{
    th_role role;
    pthread_mutex_lock(&jobs->turn);
    th_role_enter(&role, jobs, 0);
    const uint64_t start_ns = th_clock_ns();
    if (jobs->threads == 1 || job->count <= job->grain)
        run_alone(job, &jobs->tallies[0]);
    else if (jobs->scheduler == TH_SCHEDULER_OPENMP)
        th_openmp_run(jobs, job, jobs->threads, jobs->tallies);
    else
        th_pool_run(jobs->pool, job);
    jobs->called_ns += th_clock_ns() - start_ns;
    th_role_leave(&role);
    pthread_mutex_unlock(&jobs->turn);
}

void th_jobs_for(th_jobs *jobs, uint32_t count, uint32_t grain, th_jobs_fn *fn, void *ctx)
{
    assert(jobs && fn);
    if (count == 0)
        return;
    const th_job job = {.fn = fn, .ctx = ctx, .count = count, .grain = grain ? grain : 1};
    const th_role *role = th_role_find(jobs);
    if (role)
        th_job_run(&job, 0, count, role->worker, &jobs->tallies[role->worker]);
    else
        take_turn(jobs, &job);
}

void th_jobs_stats(const th_jobs *jobs, th_worker_stats *out)
{
    for (uint32_t i = 0; i < jobs->threads; i++) {
        const th_tally *tally = &jobs->tallies[i];
        out[i] = (th_worker_stats){
            .busy_ns = tally->busy_ns,
            .wait_ns = jobs->called_ns - tally->busy_ns,
            .chunks = tally->chunks,
            .items = tally->items,
            .steals = tally->steals,
            .parks = atomic_load_explicit(&tally->parks, memory_order_relaxed),
        };
    }
}

void th_jobs_stats_reset(th_jobs *jobs)
{
    jobs->called_ns = 0;
    for (uint32_t i = 0; i < jobs->threads; i++) {
        th_tally *tally = &jobs->tallies[i];
        tally->busy_ns = tally->chunks = tally->items = tally->steals = 0;
        atomic_store_explicit(&tally->parks, 0, memory_order_relaxed);
    }
}
