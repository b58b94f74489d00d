/* Ablation: frames of which a part is left out, to see what it costs. Private to bench.
 *
 * Each part runs in the same chunks as the whole frame, on the same threads. What is not to go out to memory goes to
 * the same few lines of each worker, over what the batch before left there: a batch of human palettes has 40 KB, so
 * "in the cache" is the second level where the first is smaller. Keys are read from wherever they are in every part
 * that samples. */
#ifndef TH_BENCH_SCALING_ABLATION_H
#define TH_BENCH_SCALING_ABLATION_H

#include <throng/bench/scale.h>

/* A crowd cut into crowds of one batch: each writes to the start of the memory it is given. */
typedef struct th_pieces {
    th_crowd **crowds; /* [batch] of the whole */
    uint32_t count;
    size_t palette_bytes, pose_bytes, scratch_bytes; /* of the largest */
} th_pieces;

/* whole: of the scene. The scene must outlive the pieces. th_pieces_fini in the end, whatever comes back. */
th_result th_pieces_init(th_pieces *pieces, const th_scene *scene, const th_crowd *whole, th_error *err);
void th_pieces_fini(th_pieces *pieces);

typedef struct th_ablated_desc {
    th_ablation ablation;
    const th_crowd *crowd;   /* borrowed, as the rest */
    const th_pieces *pieces; /* of the crowd */
    th_jobs *jobs;
    uint32_t grain;
} th_ablated_desc;

typedef struct th_ablated th_ablated;

th_result th_ablated_create(const th_ablated_desc *desc, th_ablated **out, th_error *err);
void th_ablated_destroy(th_ablated *ablated);

/* What is left of th_frame_animate. */
void th_ablated_run(th_ablated *ablated, double time_s, void *palette);

/* What worker 0 computed last and did not write out: palettes of a batch, or nothing anybody should read. */
const void *th_ablated_kept(const th_ablated *ablated);

#endif
