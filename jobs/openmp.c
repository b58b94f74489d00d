#include "openmp.h"

#include "clock.h"
#include "role.h"

#ifdef _OPENMP

#include <omp.h>

bool th_openmp_available(void)
{
    return true;
}

uint32_t th_openmp_team(uint32_t threads)
{
    uint32_t team = 1;
#pragma omp parallel num_threads((int)threads)
#pragma omp single
    team = (uint32_t)omp_get_num_threads();
    return team;
}

/* Called by every thread of a team: the loop below shares the chunks between them. */
static void work(const th_job *job, th_tally *tally, uint32_t worker)
{
    const int64_t chunks = th_job_chunks(job);
    const uint64_t start_ns = th_clock_ns();
#pragma omp for schedule(dynamic, 1) nowait
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        th_job_run(job, (uint32_t)chunk * job->grain, job->grain, worker, tally);
    tally->busy_ns += th_clock_ns() - start_ns;
}

void th_openmp_run(const th_jobs *jobs, const th_job *job, uint32_t threads, th_tally *tallies)
{
#pragma omp parallel num_threads((int)threads)
    {
        const uint32_t worker = (uint32_t)omp_get_thread_num();
        th_role role;
        th_role_enter(&role, jobs, worker);
        work(job, &tallies[worker], worker);
        th_role_leave(&role);
    }
}

#else

bool th_openmp_available(void)
{
    return false;
}

uint32_t th_openmp_team(uint32_t threads)
{
    (void)threads;
    return 1;
}

void th_openmp_run(const th_jobs *jobs, const th_job *job, uint32_t threads, th_tally *tallies)
{
    (void)jobs, (void)job, (void)threads, (void)tallies;
}

#endif
