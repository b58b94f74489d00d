/* The part of oneTBB that onetbb.c needs, as a C interface: threads and a parallel loop. Throws nothing. */
#ifndef TH_BENCH_BASELINES_ONETBB_ARENA_H
#define TH_BENCH_BASELINES_ONETBB_ARENA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct th_onetbb_arena th_onetbb_arena;

/* threads: including the caller, at least 2. most: maximum of any arena in the process. Returns 0, ENOMEM, or EAGAIN
 * when the system refuses; *out is NULL then. Success does not guarantee that all threads will come. */
int th_onetbb_arena_create(uint32_t threads, uint32_t most, th_onetbb_arena **out);
void th_onetbb_arena_destroy(th_onetbb_arena *arena); /* NULL is fine */

/* worker: 0 for the thread that called th_onetbb_arena_run, else 1..threads-1; never the same for two at once. */
typedef void th_onetbb_arena_fn(uint32_t begin, uint32_t end, uint32_t worker, void *ctx);

/* Calls fn over ranges that together cover [0, count) exactly once; tbb::auto_partitioner chooses their sizes. One call
 * at a time. Returns as above; after an error some ranges were skipped. */
int th_onetbb_arena_run(th_onetbb_arena *arena, uint32_t count, th_onetbb_arena_fn *fn, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
