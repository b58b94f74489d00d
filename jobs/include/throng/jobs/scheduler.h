/* Other schedulers behind the interface of jobs.h, to compare the pool with.
 *
 * jobs knows their names and no more. A program that has their runtimes registers a table of functions for each, and
 * th_jobs_create takes it from there. The pool keeps what all schedulers share: placement, counters, traces, nested
 * calls, errors. */
#ifndef THRONG_JOBS_SCHEDULER_H
#define THRONG_JOBS_SCHEDULER_H

#include <throng/jobs/jobs.h>

/* A call of th_jobs_run with two threads and two chunks at least. */
typedef struct th_loop th_loop;

typedef struct th_scheduler_ops {
    /* Starts `threads` threads, the caller's among them, or makes sure that the runtime will. Returns 0 or an errno
     * value: ENOMEM, or EAGAIN when it gives fewer. *out: for the others; may stay NULL. */
    int (*create)(uint32_t threads, void **out);
    /* Has all chunks of the loop run by th_loop_join, on worker 0, the calling thread, and the others. Returns 0, or an
     * errno value when the runtime itself gave up. One call at a time. */
    int (*run)(void *scheduler, th_loop *loop);
    void (*destroy)(void *scheduler);
} th_scheduler_ops;

/* From now on the scheduler is available; ops stay the caller's. Before the first pool, and not for TH_SCHEDULER_OWN or
 * TH_SCHEDULER_SERIAL. Again is fine. */
void th_scheduler_register(th_scheduler scheduler, const th_scheduler_ops *ops);

uint32_t th_loop_threads(const th_loop *loop);
uint32_t th_loop_chunks(const th_loop *loop);

/* A thread that takes part. */
typedef struct th_loop_worker th_loop_worker;
typedef void th_loop_fn(th_loop_worker *self, void *ctx);

/* Makes the calling thread worker `worker` of the pool while fn runs, which calls th_loop_run as often as it likes. A
 * thread may join several times in a call; no two at once under one number. */
void th_loop_join(th_loop *loop, uint32_t worker, th_loop_fn *fn, void *ctx);

/* Runs chunks [begin, end); less when one fails. */
void th_loop_run(th_loop_worker *self, uint32_t begin, uint32_t end);

#endif
