#include "cpus.h"

#include <throng/jobs/jobs.h>

#include <sched.h>

uint32_t th_mpi_threads(const th_mpi_job *job, uint32_t wanted)
{
    const uint32_t usable = th_cpus_read().usable, each = job->shares_cpus ? usable / job->local_ranks : usable;
    return wanted ? wanted : each > 0 ? each : 1;
}

bool th_mpi_bind(const th_mpi_job *job, uint32_t threads)
{
    cpu_set_t all, own;
    const uint32_t first = job->local_rank * threads;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    if (!job->shares_cpus)
        return (uint32_t)CPU_COUNT(&all) >= threads;
    if ((uint32_t)CPU_COUNT(&all) < job->local_ranks * threads)
        return false;
    for (uint32_t cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            if (n >= first && n < first + threads)
                CPU_SET(cpu, &own);
            n++;
        }
    return sched_setaffinity(0, sizeof own, &own) == 0;
}
