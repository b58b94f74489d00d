#include "openmp.h"

#include "role.h"

#ifdef _OPENMP

#include <omp.h>

bool th_openmp_available(void)
{
    return true;
}

/* With OMP_DYNAMIC the runtime may give fewer threads than asked for, by the load of the moment: the answer of
 * th_openmp_team would hold for no call after it, and a measurement not for the threads in its name. Returns what to
 * set again afterwards. */
static int insist_on_threads(void)
{
    const int before = omp_get_dynamic();
    omp_set_dynamic(false);
    return before;
}

uint32_t th_openmp_team(uint32_t threads)
{
    uint32_t team = 1;
    const int dynamic = insist_on_threads();
#pragma omp parallel num_threads((int)threads)
#pragma omp single
    team = (uint32_t)omp_get_num_threads();
    omp_set_dynamic(dynamic);
    return team;
}

/* Called by every thread of a team: the loops below share the chunks between them. */
static void work(th_scheduler scheduler, th_call *call, th_tally *tally, uint32_t worker)
{
    const uint32_t grain = call->job.grain;
    const int64_t chunks = th_job_chunks(&call->job);
    if (scheduler == TH_SCHEDULER_OPENMP_DYNAMIC) {
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            th_call_run(call, (uint32_t)chunk * grain, grain, worker, tally);
    } else if (scheduler == TH_SCHEDULER_OPENMP_GUIDED) {
#pragma omp for schedule(guided, 1) nowait
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            th_call_run(call, (uint32_t)chunk * grain, grain, worker, tally);
    } else {
#pragma omp for schedule(static) nowait
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            th_call_run(call, (uint32_t)chunk * grain, grain, worker, tally);
    }
}

void th_openmp_run(const th_jobs *jobs, th_scheduler scheduler, th_call *call, uint32_t threads, th_tally *tallies,
                   const th_seats *seats, uint64_t start)
{
    const int dynamic = insist_on_threads();
#pragma omp parallel num_threads((int)threads)
    {
        const uint32_t worker = (uint32_t)omp_get_thread_num();
        th_tally *tally = &tallies[worker];
        th_role role;
        th_seats_sit(seats, worker);
        th_role_enter(&role, jobs, worker);
        const uint64_t chunks = tally->chunks, from = th_tally_begin(tally);
        work(scheduler, call, tally, worker);
        if (tally->chunks > chunks)
            th_tally_end(tally, from, start);
        th_role_leave(&role);
    }
    omp_set_dynamic(dynamic);
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

void th_openmp_run(const th_jobs *jobs, th_scheduler scheduler, th_call *call, uint32_t threads, th_tally *tallies,
                   const th_seats *seats, uint64_t start)
{
    (void)jobs, (void)scheduler, (void)call, (void)threads, (void)tallies, (void)seats, (void)start;
}

#endif
