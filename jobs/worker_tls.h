/* Which worker of which pool the running thread is, so that a nested call can detect that it is one.
 *
 * A list, innermost first, because a job of one pool may call another. The records are on the stacks of their
 * threads. */
#ifndef TH_JOBS_WORKER_TLS_H
#define TH_JOBS_WORKER_TLS_H

#include <throng/jobs/jobs.h>

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
