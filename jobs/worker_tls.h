/* Which worker of which pool the running thread is: how a nested call finds out that it is one.
 *
 * A list, innermost first, because a job of one pool may call another. The records live on the stacks of their threads.
 */
#ifndef TH_JOBS_WORKER_TLS_H
#define TH_JOBS_WORKER_TLS_H

#include <throng/jobs/jobs.h>

typedef struct th_role {
    const th_jobs *jobs;
    uint32_t worker;
    const struct th_role *outer;
} th_role;

void th_role_enter(th_role *role, const th_jobs *jobs, uint32_t worker);
void th_role_leave(const th_role *role);

/* NULL when the thread is not inside a job of this pool. */
const th_role *th_role_find(const th_jobs *jobs);

#endif
