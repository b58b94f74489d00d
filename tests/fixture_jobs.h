/* Pools and clocks for the tests of the job system. */
#ifndef FIXTURE_JOBS_H
#define FIXTURE_JOBS_H

#include <throng/jobs.h>

#include <time.h>

/* A pool that is not placed; the test fails without it. Free with th_jobs_destroy. */
th_jobs *create_jobs(th_scheduler scheduler, uint32_t threads);

uint64_t now_ns(clockid_t clock);
void sleep_ms(long ms); /* below a second */

#endif
