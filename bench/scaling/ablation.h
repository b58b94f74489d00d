/* Ablation: frames with a part left out, to see what that part costs. Private to bench.
 *
 * Each ablation runs in the same chunks as the whole frame, on the same threads. Output that must not go to memory goes
 * to the same few cache lines of each worker, overwritten by every batch. A batch of human palettes has 40 KB, so "in
 * the cache" is the L2 where the L1 is smaller. Ablations that sample read keys from wherever they are. */
#ifndef TH_BENCH_SCALING_ABLATION_H
#define TH_BENCH_SCALING_ABLATION_H

#include <bench/scale.h>

typedef struct th_ablated_frame_desc {
    th_ablation ablation;
    const th_crowd *crowd; /* borrowed, as the pool */
    th_jobs *jobs;
    uint32_t grain;
} th_ablated_frame_desc;

typedef struct th_ablated_frame th_ablated_frame;

th_result th_ablated_frame_create(const th_ablated_frame_desc *desc, th_ablated_frame **out, th_error *err);
void th_ablated_frame_destroy(th_ablated_frame *ablated);

/* The remaining part of th_frame_run. */
void th_ablated_frame_run(th_ablated_frame *ablated, double time_s, void *palette);

#endif
