/* What limits a kernel: the arithmetic that it does, and how much of that and of memory traffic one core can do at
 * most. For a roofline (S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model,
 * 2009). */
#ifndef THRONG_ANIM_CEILINGS_H
#define THRONG_ANIM_CEILINGS_H

#include <anim/crowd.h>

/* The work of posing a crowd once. */
typedef struct th_crowd_work {
    uint64_t flops;         /* single precision; a fused multiply-add counts as two */
    uint64_t key_bytes;     /* of the frames that are interpolated */
    uint64_t palette_bytes; /* that are stored, whole cache lines */
} th_crowd_work;

/* By th_crowd_pose: without the arithmetic of seeking, some operations a character, and without characters that play
 * exact. */
th_crowd_work th_crowd_count_work(const th_crowd *crowd);

/* Runs independent chains of multiply-adds in all lanes. Returns the operations done: twice as many as multiply-adds.
 */
uint64_t th_isa_multiply_add(th_isa isa, uint32_t rounds);

/* Reads or writes `count` floats so many times, with the widest loads and stores. at: aligned to 64. count: a multiple
 * of 128. Returns the sum of all that was read. */
double th_isa_read(th_isa isa, const float *at, size_t count, size_t times);
void th_isa_write(th_isa isa, float *at, size_t count, size_t times);

#endif
