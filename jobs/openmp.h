/* The yardsticks people know: one `omp for` over the chunks. */
#ifndef TH_JOBS_OPENMP_H
#define TH_JOBS_OPENMP_H

#include "job.h"
#include "seats.h"

bool th_openmp_available(void);

/* How many of so many threads the runtime really gives: OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS or a parallel region
 * around it may leave fewer. */
uint32_t th_openmp_team(uint32_t threads);

/* Its threads run in the role of workers of `jobs`. scheduler: one of OpenMP's. tallies: one a thread. start: of the
 * call, in ticks. Only when available. Where the runtime gives fewer threads than at first, because the call is made
 * from inside another parallel region, those run it all. */
void th_openmp_run(const th_jobs *jobs, th_scheduler scheduler, th_call *call, uint32_t threads, th_tally *tallies,
                   const th_seats *seats, uint64_t start);

#endif
