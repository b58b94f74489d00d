/* Faults of frames that scale badly (throng/core/mutant.h), for frame.c. Without THRONG_MUTANTS there are none. */
#ifndef TH_RUNTIME_FRAME_MUTANTS_H
#define TH_RUNTIME_FRAME_MUTANTS_H

#include <stdint.h>

#ifdef TH_MUTANTS

/* Around a chunk of a worker of `workers`; begin_ns: what the first of the two returned. */
uint64_t th_frame_chunk_begin(void);
void th_frame_chunk_delay(uint64_t begin_ns, uint32_t worker, uint32_t workers);

/* On the caller, after a frame's jobs. */
void th_frame_caller_delay(void);

#else

static inline uint64_t th_frame_chunk_begin(void)
{
    return 0;
}

static inline void th_frame_chunk_delay(uint64_t begin_ns, uint32_t worker, uint32_t workers)
{
    (void)begin_ns, (void)worker, (void)workers;
}

static inline void th_frame_caller_delay(void)
{
}

#endif

#endif
