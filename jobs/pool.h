/* The own scheduler: persistent workers that share one job at a time. See pool.c for how. */
#ifndef TH_JOBS_POOL_H
#define TH_JOBS_POOL_H

#include "job.h"

#include <pthread.h>

typedef struct th_pool th_pool;

/* Starts threads - 1 workers, at least one, in the tls of workers of `jobs`. worker_counters: one a thread, number 0
 * for the caller; must outlive the pool. Returns 0, ENOMEM or EAGAIN. */
int th_pool_create(const th_jobs *jobs, uint32_t threads, th_worker_counters *worker_counters, th_pool **out);

/* Of the workers from 1 on: threads - 1 of them. */
void th_pool_threads(const th_pool *pool, pthread_t *out);

/* No job may be running. NULL is fine. */
void th_pool_destroy(th_pool *pool);

/* One call at a time. start: of the call, in ticks. Returns what the first chunk that failed did, or 0. */
int th_pool_run(th_pool *pool, const th_job *job, const th_trace *trace, uint64_t start);

/* As th_jobs_frame_begin and _end; any thread, at any time. */
void th_pool_frame_begin(th_pool *pool);
void th_pool_frame_end(th_pool *pool);

#endif
