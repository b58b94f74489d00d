#include "scheduler.h"

#include <assert.h>
#include <stddef.h>

static const th_scheduler_ops *registered[TH_SCHEDULER_COUNT];

static const char *const names[] = {
    [TH_SCHEDULER_WORK_STEALING] = "work-stealing",   [TH_SCHEDULER_SERIAL] = "serial",
    [TH_SCHEDULER_OPENMP_DYNAMIC] = "openmp-dynamic", [TH_SCHEDULER_OPENMP_GUIDED] = "openmp-guided",
    [TH_SCHEDULER_OPENMP_STATIC] = "openmp-static",
};
_Static_assert(sizeof names / sizeof *names == TH_SCHEDULER_COUNT, "every scheduler has a name");

static bool is_built_in(th_scheduler scheduler)
{
    return scheduler == TH_SCHEDULER_WORK_STEALING || scheduler == TH_SCHEDULER_SERIAL;
}

const char *th_scheduler_name(th_scheduler scheduler)
{
    return (uint32_t)scheduler < TH_SCHEDULER_COUNT ? names[scheduler] : "unknown";
}

bool th_scheduler_available(th_scheduler scheduler)
{
    return is_built_in(scheduler) || th_scheduler_find(scheduler);
}

void th_scheduler_register(th_scheduler scheduler, const th_scheduler_ops *ops)
{
    assert((uint32_t)scheduler < TH_SCHEDULER_COUNT && !is_built_in(scheduler));
    assert(ops && ops->create && ops->run && ops->destroy);
    registered[scheduler] = ops;
}

const th_scheduler_ops *th_scheduler_find(th_scheduler scheduler)
{
    return (uint32_t)scheduler < TH_SCHEDULER_COUNT ? registered[scheduler] : NULL;
}

/* ---- a call ---- */

uint32_t th_loop_threads(const th_loop *loop)
{
    assert(loop);
    return loop->threads;
}

uint32_t th_loop_chunks(const th_loop *loop)
{
    assert(loop);
    return th_job_chunks(&loop->call.job);
}

struct th_loop_worker {
    th_loop *loop;
    th_worker_counters *counters;
    uint32_t worker;
};

void th_loop_join(th_loop *loop, uint32_t worker, th_loop_fn *fn, void *ctx)
{
    assert(loop && fn);
    assert(worker < loop->threads);
    th_worker_counters *counters = &loop->worker_counters[worker];
    th_loop_worker self = {loop, counters, worker};
    th_worker_tls tls;
    assert((worker == 0) == (th_worker_tls_find(loop->jobs) != NULL)); /* only the caller has a record already */
    th_affinity_apply(loop->affinity, worker);
    th_worker_tls_enter(&tls, loop->jobs, worker);
    const uint64_t chunks = counters->chunks, from = th_worker_counters_begin(counters);
    fn(&self, ctx);
    if (counters->chunks > chunks) /* otherwise nothing was left, or an error elsewhere has ended the call */
        counters->end =
            th_worker_counters_end(counters, from, counters->end > loop->start ? counters->end : loop->start);
    th_worker_tls_leave(&tls);
}

void th_loop_run(th_loop_worker *self, uint32_t begin, uint32_t end)
{
    assert(self);
    assert(begin <= end && end <= th_loop_chunks(self->loop));
    th_call *call = &self->loop->call;
    const uint32_t first = begin * call->job.grain;
    const uint64_t length = (uint64_t)(end - begin) * call->job.grain, rest = call->job.count - first;
    th_call_run(call, first, (uint32_t)(length < rest ? length : rest), self->worker, self->counters);
}
