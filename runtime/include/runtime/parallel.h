/* Threads for what anim does a few times and not in a frame, such as compiling clips. */
#ifndef THRONG_RUNTIME_PARALLEL_H
#define THRONG_RUNTIME_PARALLEL_H

#include <jobs/jobs.h>

#include <stdint.h>

/* A th_parallel_fn. Starts a pool for the call, and runs the items on the calling thread if it cannot. jobs: a
 * th_jobs_desc, or NULL for one of zeros. */
void th_parallel_run(uint32_t count, void (*fn)(uint32_t item, void *ctx), void *ctx, void *jobs);

#endif
