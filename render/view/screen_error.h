/* What a frame's palettes cost on the screen: for each visible character the largest distance in pixels between its
 * skin as drawn and as a full evaluation puts it, which is that of its compiled model at its own time, in f32.
 *
 * The full evaluation costs at least as much as the frame itself, so it is done only for frames that are measured. Such
 * a frame is posed into memory of the measurement first, since slots of the ring must not be read. Where poses are held
 * all frames are. All calls on one thread; the work is done by the workers. The numbers do not depend on how many there
 * are. */
#ifndef TH_RENDER_VIEW_SCREEN_ERROR_H
#define TH_RENDER_VIEW_SCREEN_ERROR_H

#include <render/cull.h>
#include <throng/anim/skin_error.h>
#include <throng/render/camera.h>
#include <throng/render/crowd_renderer.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/pose_plan.h>
#include <throng/runtime/scene.h>

typedef struct th_screen_error th_screen_error;

/* What characters are posed and drawn as: their own model, or a joint level of it. */
typedef struct th_posed_model {
    const th_model *model;
    uint32_t of;    /* index of their own */
    uint32_t level; /* the finest with these joints */
} th_posed_model;

typedef struct th_screen_error_desc {
    const th_scene *scene;              /* borrowed, as all that follows */
    const th_posed_model *posed_models; /* [posed_count] */
    uint32_t posed_count;
    const th_behaviour *behaviour;
    th_jobs *jobs;
    th_isa isa;
    uint32_t every; /* measures every n-th frame, from the first on; at least 1 */
    uint32_t
        kept; /* frames whose palettes are kept, this one included, because poses of theirs may be held; at least 1 */
} th_screen_error_desc;

/* The only error is TH_ERR_MEMORY. */
th_result th_screen_error_create(const th_screen_error_desc *desc, th_screen_error **out, th_error *err);
void th_screen_error_destroy(th_screen_error *error); /* NULL does nothing */

/* Called once for each frame: whether it is to be measured. NULL: never. */
bool th_screen_error_next(th_screen_error *error);

/* Memory to pose the frame with this number into (th_pose_plan_begin), aligned to 64. Its content stays for the frames
 * that are kept. Takes all memory of a measurement as well, so call it before th_pose_plan_keep: where it fails the
 * frame is not posed, and frames after it hold none of its poses. counts: [model] listed characters. NULL: there is no
 * memory; what is kept of other frames stays. */
void *th_screen_error_reserve(th_screen_error *error, uint32_t number, size_t palette_bytes, const uint32_t *counts);

/* A frame that has been posed. */
typedef struct th_screen_error_frame {
    const th_crowd *crowd; /* with the frame's active instances */
    const void *palettes;  /* what th_screen_error_reserve returned */
    const th_cull *cull;   /* the listed characters; models of draw lists are indices of posed models */
    const th_pose_plan *plan;
    const th_gpu_instance *held_at;       /* [instance] where it stands if its pose is held; NULL: none is */
    const th_gpu_instance *gpu_instances; /* [instance] but for Z, which is that of the cull */
    double time_s;
    const th_camera *camera;
    uint32_t width, height;
} th_screen_error_frame;

/* Measures all that are listed and visible. Returns pixels, in the order of the list; below 0 for characters that are
 * out of sight. */
const float *th_screen_error_measure(th_screen_error *error, const th_screen_error_frame *frame);

#endif
