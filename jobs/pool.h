/* The work-stealing scheduler: persistent workers that share one job at a time. pool.c explains it. */
#ifndef TH_JOBS_POOL_H
#define TH_JOBS_POOL_H

#include "job.h"

#include <pthread.h>

typedef struct th_pool th_pool;

/* Starts threads - 1 workers, at least one, with the thread-local records of workers of `jobs`. worker_counters: one
 * per thread, number 0 for the caller; must outlive the pool. Returns 0, ENOMEM or EAGAIN. */
int th_pool_create(const th_jobs *jobs, uint32_t threads, th_worker_counters *worker_counters, th_pool **out);

/* Returns the threads of the workers from 1 on: threads - 1 of them. */
void th_pool_threads(const th_pool *pool, pthread_t *out);

/* No job may be running. NULL is allowed. */
void th_pool_destroy(th_pool *pool);

/* One call at a time. start: of the call, in ticks. Returns the result of the first chunk that failed, or 0. */
int th_pool_run(th_pool *pool, const th_job *job, const th_trace *trace, uint64_t start);

/* Like th_jobs_frame_begin and th_jobs_frame_end; any thread, at any time. */
void th_pool_frame_begin(th_pool *pool);
void th_pool_frame_end(th_pool *pool);

#endif
