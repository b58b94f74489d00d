#include "worker_tls.h"

#include <assert.h>
#include <stddef.h>

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
