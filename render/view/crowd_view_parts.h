/* The parts of a crowd view. Two crowd views may share parts (th_crowd_view_prepare), so nothing here changes except
 * what each frame computes anew. */
#ifndef TH_RENDER_VIEW_CROWD_VIEW_PARTS_H
#define TH_RENDER_VIEW_CROWD_VIEW_PARTS_H

#include "indirect.h"
#include "surroundings.h"

#include <anim/joint_lod.h>
#include <core/arena.h>
#include <render/crowd_view.h>
#include <render/cull.h>
#include <render/gpu_evaluator.h>
#include <runtime/animation_budget.h>
#include <runtime/frame.h>
#include <runtime/pose_plan.h>

_Static_assert(TH_RENDER_MESH_LODS == TH_LOD_LEVELS, "a joint level for each");

enum { TH_CROWD_VIEW_MAX_POSED = TH_CROWD_VIEW_MAX_MODELS * TH_LOD_LEVELS };

/* ---- culling by the GPU ----
 *
 * Lists on the GPU the characters that th_cull lists on the CPU, in the same order, and writes what posing and drawing
 * them needs: where they stand, where in their clips they are, and the commands. Nothing of it comes back but, some
 * frames later, how many there were. So the CPU's time for a frame does not depend on the number of characters.
 *
 * There is room for the palettes of all characters, because the CPU does not know how many will be listed.
 *
 * All calls belong to the context's thread. */

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

/* ---- the parts ---- */

struct th_crowd_view {
    th_arena *arena; /* holds this, and all arrays of which nothing else is said */
    th_crowd_view_desc desc;
    th_crowd_behaviour plays;
    th_crowd_view_stats stats;
    th_tracer *tracer; /* may be NULL */
    double unit;       /* a metre, in scene units, if the first model is as tall as a person */

    /* By model. */
    th_joint_lod *joint_lods[TH_CROWD_VIEW_MAX_MODELS];               /* NULL: only their own */
    th_routines *routines[TH_CROWD_VIEW_MAX_MODELS];                  /* NULL: no behaviour, or none in this model */
    uint32_t posed_as[TH_CROWD_VIEW_MAX_MODELS][TH_RENDER_MESH_LODS]; /* the posed model at a level of detail */
    uint32_t first_locomotion[TH_CROWD_VIEW_MAX_MODELS];
    th_draw_model draw_models[TH_CROWD_VIEW_MAX_MODELS]; /* of the last frame */

    /* By posed model: those of the desc, then their joint levels. */
    uint32_t posed_count;
    th_posed_model posed_models[TH_CROWD_VIEW_MAX_POSED];
    th_compiled_model
        *compiled_models[TH_CROWD_VIEW_MAX_POSED]; /* those of the desc are borrowed if it provides them */
    th_render_mesh *meshes[TH_CROWD_VIEW_MAX_POSED];

    th_locomotion *locomotions; /* a block: each model's clips, then its rest pose, then its routines if it has any */
    uint32_t locomotion_count;

    th_scene *scene;
    th_instance_motion *motions; /* [instance] a block */
    th_layout layout;
    th_behaviour *behaviour; /* NULL: none */
    /* Its memory holds the next three. A successor shares it, with how its draw lists are posed: of such views only one
     * is posed and drawn at a time. */
    th_cull *cull;
    th_walk *walks;                 /* [instance]; NULL if nobody moves */
    th_weave *weaves;               /* [instance]; NULL if nobody moves or behaves */
    th_gpu_instance *gpu_instances; /* [instance] where characters stand at time 0; X and heading of those that weave
                                       are those of the last frame. cull->z has Z of this one */

    th_crowd *crowd;
    th_pose_plan *plan;
    th_budget_means *means; /* [model] with joint levels by level of detail; NULL without a budget */
    th_animation_budget budget;
    const th_crowd_view *budget_base;       /* until it is complete: whose budget it then takes over; NULL: a new one */
    double last_s;                          /* time of the last frame; NaN: there was none */
    double tolerances_px[TH_POSE_MAX_HOLD]; /* of the budget: [frame % TH_POSE_MAX_HOLD] */
    th_gpu_instance *held_at;               /* [instance] where it stood in its last own pose; NULL: nobody holds one */
    th_jobs *jobs;
    th_frame *frame;
    th_draw *draws; /* [draw lists * most_hold] */
    uint32_t draw_count;
    th_view view;                  /* of the last frame */
    struct th_screen_error *error; /* NULL: not measured */
    float *visible_px;             /* of the last measured frame, ascending */

    th_gpu_evaluator *evaluator;   /* NULL: the CPU poses */
    th_gpu_cull *gpu_cull;         /* NULL: the CPU culls */
    th_error fallback;             /* what the CPU does that the GPU was to, and why; or an empty text */
    th_surroundings *surroundings; /* NULL: none */
    th_ring *ring;
    th_crowd_renderer *renderer;
};

/* A crowd that is seen from within, or in a scene, stands closer; others stay comparable. */
bool th_crowd_view_is_close(const th_crowd_view_desc *desc);

/* Between neighbours of a close crowd, so that most do not touch; 0: so that none can. */
float th_crowd_view_spacing(const th_crowd_view *crowd_view);

/* ---- the error on screen ----
 *
 * What a frame's palettes cost on the screen: for each visible character the largest distance in pixels between its
 * skin as drawn and as a full evaluation puts it, which is that of its compiled model at its own time, in f32.
 *
 * The full evaluation costs at least as much as the frame itself, so it is done only for frames that are measured. Such
 * a frame is posed into memory of the measurement first, since slots of the ring must not be read. Where poses are held
 * all frames are. All calls on one thread; the work is done by the workers. The numbers do not depend on how many there
 * are. */

/* Where it is measured: with the look of errors in every frame, else in every n-th as the desc says, from the first on.
 * Keeps the palettes of as many frames as poses are held. The only error is TH_ERR_MEMORY. */
th_result th_screen_error_create(const th_crowd_view *crowd_view, struct th_screen_error **out, th_error *err);
void th_screen_error_destroy(struct th_screen_error *error); /* NULL does nothing */

/* Called once for each frame: whether it is to be measured. NULL: never. */
bool th_screen_error_next(struct th_screen_error *error);

/* Memory to pose the frame of the ring into, aligned to 64. Its content stays for the frames that are kept. Takes all
 * memory of a measurement as well, so call it before th_pose_plan_keep: where it fails the frame is not posed, and
 * frames after it hold none of its poses. NULL: there is no memory; what is kept of other frames stays. */
void *th_screen_error_reserve(const th_crowd_view *crowd_view);

/* Measures all that are listed and visible, of a frame posed into that memory; sets the statistics and visible_px.
 * Returns pixels, in the order of the list; below 0 for characters that are out of sight. */
const float *th_screen_error_measure(th_crowd_view *crowd_view, double time_s, const th_camera *camera, uint32_t width,
                                     uint32_t height);

#endif
