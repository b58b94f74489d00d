/* What is explored: a pool, calls by one or several threads, and everything the contract of jobs/jobs.h promises
 * about them. */
#ifndef TH_TESTS_EXPLORE_CALLS_H
#define TH_TESTS_EXPLORE_CALLS_H

#include <runtime/frame.h>

typedef enum explore_start {
    EXPLORE_LATE = 0, /* the workers have been created, and that is all */
    EXPLORE_SPINNING, /* they wait for a call, if they may spin; else they sleep */
    EXPLORE_ASLEEP,
} explore_start;

typedef struct explore_plan {
    const char *name;
    uint32_t threads;
    bool spins;
    explore_start start;
    uint32_t range_max; /* chunks that are numbered; 0: as many as can be */
    uint32_t group;     /* workers that end together, for at most 32 threads; 0: 8 */
    uint32_t callers;   /* 0 counts as 1 */
    uint32_t earlier;   /* calls before the ones that are explored: after 101 the epoch is 0 */
    uint32_t refused;   /* the thread after so many cannot be created; 0: all can */
    uint32_t calls;     /* of each caller, like this: */
    uint32_t count, grain;
    uint32_t fails; /* of so many chunks of the first call one */
    bool is_weighted, nests, frames, traces;
    uint32_t other_threads; /* of a second pool, which nested calls go to first; 0: none */
    uint64_t random;        /* not 0: every call is another */
    const th_crowd *crowd;  /* instead of calls */
    const uint64_t *hashes; /* of its first EXPLORE_FRAMES frames */
    void *palette;
} explore_plan;

enum { EXPLORE_FRAMES = 4 };

uint64_t explore_frame_hash(th_frame *frame, const explore_plan *plan, uint32_t n);

/* For explore_run. plan: explore_plan. */
void *explore_plan_run(void *plan);

#endif
