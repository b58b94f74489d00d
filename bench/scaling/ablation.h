/* Ablation: frames of which a part is left out, to see what it costs. Private to bench.
 *
 * Each part runs in the same chunks as the whole frame, on the same threads. What is not to go out to memory goes to
 * the same few lines of each worker, over what the batch before left there: a batch of human palettes has 40 KB, so
 * "in the cache" is the second level where the first is smaller. Keys are read from wherever they are in every part
 * that samples. */
#ifndef TH_BENCH_SCALING_ABLATION_H
#define TH_BENCH_SCALING_ABLATION_H

#include <throng/bench/scale.h>

/* A crowd add_batch_crowd into crowds of one batch: each writes to the start of the memory it is given. */
typedef struct th_batch_crowds {
    th_crowd **crowds; /* [batch] of the whole */
    uint32_t count;
    size_t palette_bytes, pose_bytes, scratch_bytes; /* of the largest */
} th_batch_crowds;

/* whole: of the scene. The scene must outlive the batch_crowds. th_batch_crowds_fini in the end, whatever comes back.
 */
th_result th_batch_crowds_init(th_batch_crowds *batch_crowds, const th_scene *scene, const th_crowd *whole,
                               th_error *err);
void th_batch_crowds_fini(th_batch_crowds *batch_crowds);

typedef struct th_ablated_frame_frame_desc {
    th_ablation ablation;
    const th_crowd *crowd;               /* borrowed, as the rest */
    const th_batch_crowds *batch_crowds; /* of the crowd */
    th_jobs *jobs;
    uint32_t grain;
} th_ablated_frame_frame_desc;

typedef struct th_ablated_frame th_ablated_frame;

th_result th_ablated_frame_create(const th_ablated_frame_frame_desc *desc, th_ablated_frame **out, th_error *err);
void th_ablated_frame_destroy(th_ablated_frame *ablated);

/* What is left of th_frame_animate. */
void th_ablated_frame_run(th_ablated_frame *ablated, double time_s, void *palette);

/* What worker 0 computed last and did not write out: palettes of a batch, or nothing anybody should read. */
const void *th_ablated_frame_frame_output(const th_ablated_frame *ablated);

#endif
