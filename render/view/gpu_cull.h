/* Lists on the GPU the characters that th_cull lists on the CPU, in the same order, and writes what posing and drawing
 * them needs: where they stand, where in their clips they are, and the commands. Nothing of it comes back but, some
 * frames later, how many there were. So the CPU's time for a frame does not depend on the number of characters.
 * Private to render.
 *
 * There is room for the palettes of all characters, because the CPU does not know how many will be listed.
 *
 * All calls belong to the context's thread. */
#ifndef TH_RENDER_VIEW_GPU_CULL_H
#define TH_RENDER_VIEW_GPU_CULL_H

#include "indirect.h"

#include <render/cull.h>
#include <throng/render/crowd_view.h>
#include <throng/render/gpu_evaluator.h>

typedef struct th_gpu_cull th_gpu_cull;

/* Of the crowd view's parts; gl, its renderer, evaluator and cull must outlive it, and all characters must be active.
 * TH_ERR_INPUT: the crowd is too large for the driver; the CPU can list it. TH_ERR_ENVIRONMENT: a shader does not
 * compile. TH_ERR_MEMORY: here or on the GPU. */
th_result th_gpu_cull_create(const th_crowd_view *crowd_view, const th_gl *gl, th_gpu_cull **out, th_error *err);
void th_gpu_cull_destroy(th_gpu_cull *cull); /* NULL does nothing */

/* How a model is drawn in a frame, as th_draw has it. */
typedef struct th_draw_model {
    uint32_t shadow_lod;
    float footprint;
} th_draw_model;

/* What a frame tells the GPU. */
typedef struct th_gpu_cull_frame {
    double time_s;
    const th_cull_view *visible;
    const th_cull_light *light; /* NULL where shadows are not drawn */
    const th_draw_model *models;
    bool tints_levels; /* by level of detail, instead of each character's own */
} th_gpu_cull_frame;

/* Bytes that th_gpu_cull_write writes. */
size_t th_gpu_cull_frame_bytes(const th_gpu_cull *cull);
void th_gpu_cull_write(const th_gpu_cull *cull, const th_gpu_cull_frame *frame, void *out);

/* Lists the characters, as what was written to `frame` says. */
void th_gpu_cull_run(th_gpu_cull *cull, th_ring_binding frame);

/* Poses the listed ones. */
void th_gpu_cull_pose(const th_gpu_cull *cull);

/* What it listed last, to draw. models: of the frame. */
const th_indirect *th_gpu_cull_draws(th_gpu_cull *cull, const th_draw_model *models);

/* [draw list], as th_cull has them: how many were listed TH_RING_SLOTS runs ago, which the GPU must have done. NULL:
 * there was no such run. */
const uint32_t *th_gpu_cull_old_counts(th_gpu_cull *cull);

/* Those of the last run. Waits for the GPU. NULL: there was none. */
const uint32_t *th_gpu_cull_counts(th_gpu_cull *cull);

/* For tests: the list, cursors by model from first_cursors[model] on, and the order of both is that of th_cull.list. */
typedef struct th_gpu_cull_list {
    uint32_t instances, cursors;   /* buffers */
    const uint32_t *first_cursors; /* [model] */
} th_gpu_cull_list;

th_gpu_cull_list th_gpu_cull_get_list(const th_gpu_cull *cull);

#endif
