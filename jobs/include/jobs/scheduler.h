/* Other schedulers behind the interface of jobs.h, as baselines for the pool.
 *
 * jobs knows only their names. A program that links their runtimes registers a table of functions for each. th_jobs
 * provides what all schedulers have in common: placement, counters, traces, nested calls, errors. */
#ifndef THRONG_JOBS_SCHEDULER_H
#define THRONG_JOBS_SCHEDULER_H

#include <jobs/jobs.h>

/* A call of th_jobs_run with at least two threads and two chunks. */
typedef struct th_loop th_loop;

typedef struct th_scheduler_ops {
    /* Starts `threads` threads including the caller, or makes sure that the runtime will. Returns 0, ENOMEM, or EAGAIN
     * if the runtime grants fewer. *out: passed to run and destroy; may stay NULL. */
    int (*create)(uint32_t threads, void **out);
    /* Runs all chunks of the loop through th_loop_join, on the calling thread as worker 0 and on the others. Returns 0,
     * or an errno value if the runtime failed. The pool makes one call at a time. */
    int (*run)(void *scheduler, th_loop *loop);
    void (*destroy)(void *scheduler);
} th_scheduler_ops;

/* Makes a scheduler available. ops is borrowed, complete, and must stay valid. Call it before the first pool is
 * created, from one thread, and not for TH_SCHEDULER_WORK_STEALING or TH_SCHEDULER_SERIAL. A second call replaces the
 * first. */
void th_scheduler_register(th_scheduler scheduler, const th_scheduler_ops *ops);

uint32_t th_loop_threads(const th_loop *loop);
uint32_t th_loop_chunks(const th_loop *loop);

/* A thread that takes part in a loop. */
typedef struct th_loop_worker th_loop_worker;
typedef void th_loop_fn(th_loop_worker *self, void *ctx);

/* Runs fn with the calling thread as worker `worker` of the pool; 0 is the thread that called run. fn may call
 * th_loop_run any number of times. A thread may join a loop several times. Two threads must not have the same number at
 * the same time. */
void th_loop_join(th_loop *loop, uint32_t worker, th_loop_fn *fn, void *ctx);

/* Runs the chunks [begin, end), fewer if one fails. */
void th_loop_run(th_loop_worker *self, uint32_t begin, uint32_t end);

#endif
