/* Ablation: frames with a part left out, to see what that part costs. Private to bench.
 *
 * Each ablation runs in the same chunks as the whole frame, on the same threads. Output that must not go to memory goes
 * to the same few cache lines of each worker, overwritten by every batch. A batch of human palettes has 40 KB, so "in
 * the cache" is the L2 where the L1 is smaller. Ablations that sample read keys from wherever they are. */
#ifndef TH_BENCH_SCALING_ABLATION_H
#define TH_BENCH_SCALING_ABLATION_H

#include <bench/scale.h>

/* A crowd split into crowds of one batch each; each writes to the start of the memory it is given. */
typedef struct th_batch_crowds {
    th_crowd **crowds; /* [batch of the whole crowd] */
    uint32_t count;
    size_t palette_bytes, pose_bytes, scratch_bytes; /* of the largest crowd */
} th_batch_crowds;

/* whole: a crowd of `scene`, which must outlive the batch_crowds. Call th_batch_crowds_fini in the end, even if it
 * failed. */
th_result th_batch_crowds_init(th_batch_crowds *batch_crowds, const th_scene *scene, const th_crowd *whole,
                               th_error *err);
void th_batch_crowds_fini(th_batch_crowds *batch_crowds);

typedef struct th_ablated_frame_desc {
    th_ablation ablation;
    const th_crowd *crowd;               /* borrowed, as the other pointers */
    const th_batch_crowds *batch_crowds; /* of the crowd */
    th_jobs *jobs;
    uint32_t grain;
} th_ablated_frame_desc;

typedef struct th_ablated_frame th_ablated_frame;

th_result th_ablated_frame_create(const th_ablated_frame_desc *desc, th_ablated_frame **out, th_error *err);
void th_ablated_frame_destroy(th_ablated_frame *ablated);

/* The remaining part of th_frame_run. */
void th_ablated_frame_run(th_ablated_frame *ablated, double time_s, void *palette);

/* What worker 0 computed last and did not write out: palettes of a batch, or contents without a meaning. For tests. */
const void *th_ablated_frame_output(const th_ablated_frame *ablated);

#endif
