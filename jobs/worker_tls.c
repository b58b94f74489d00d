#include "worker_tls.h"

#include <stddef.h>

static _Thread_local const th_role *innermost;

void th_role_enter(th_role *role, const th_jobs *jobs, uint32_t worker)
{
    *role = (th_role){.jobs = jobs, .worker = worker, .outer = innermost};
    innermost = role;
}

void th_role_leave(const th_role *role)
{
    innermost = role->outer;
}

const th_role *th_role_find(const th_jobs *jobs)
{
    const th_role *role = innermost;
    while (role && role->jobs != jobs)
        role = role->outer;
    return role;
}
