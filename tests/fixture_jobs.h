/* Pools and clocks for the tests of the job system. */
#ifndef FIXTURE_JOBS_H
#define FIXTURE_JOBS_H

#include <throng/jobs/jobs.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* A pool that is not placed; the test fails without it. Free with th_jobs_destroy. */
th_jobs *create_jobs(th_scheduler scheduler, uint32_t threads);

/* Who comes when as many chunks are run as there are threads, of which none ends before all have begun: each thread has
 * one. A job of `expected` items of one meeting. */
typedef struct meeting {
    atomic_uint present;
    uint32_t expected;
    cpu_set_t masks[TH_JOBS_MAX_THREADS]; /* by worker */
    char names[TH_JOBS_MAX_THREADS][16];
    pthread_t threads[TH_JOBS_MAX_THREADS];
} meeting;

int meet(uint32_t begin, uint32_t end, uint32_t worker, void *ctx);

uint64_t now_ns(clockid_t clock);
void sleep_ms(long ms); /* below a second */

/* CPU time that the whole process takes while the caller sleeps. A busy machine keeps threads from the CPU, or charges
 * them for the time it took from them: what holds on a quiet one must be seen in one of some tries. */
uint64_t burnt_ns_in(long ms);
enum { TRIES = 50 };

#endif
