/* The parts of a crowd view. Two crowd views may share parts (th_crowd_view_prepare), so nothing here changes except
 * what each frame computes anew. */
#ifndef TH_RENDER_VIEW_CROWD_VIEW_PARTS_H
#define TH_RENDER_VIEW_CROWD_VIEW_PARTS_H

#include "gpu_cull.h"
#include "screen_error.h"
#include "surroundings.h"

#include <core/arena.h>
#include <render/cull.h>
#include <throng/anim/joint_lod.h>
#include <throng/render/crowd_view.h>
#include <throng/runtime/animation_budget.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/pose_plan.h>

_Static_assert(TH_RENDER_MESH_LODS == TH_LOD_LEVELS, "a joint level for each");

enum { TH_CROWD_VIEW_MAX_POSED = TH_CROWD_VIEW_MAX_MODELS * TH_LOD_LEVELS };

struct th_crowd_view {
    th_arena *arena; /* holds this, and all arrays of which nothing else is said */
    th_crowd_view_desc desc;
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
    const th_crowd_view *budget_base; /* until it is complete: whose budget it then takes over; NULL: a new one */
    double last_s;                    /* time of the last frame; NaN: there was none */
    bool is_repeatable;
    th_gpu_instance *held_at; /* [instance] where it stood in its last own pose; NULL: nobody holds one */
    th_jobs *jobs;
    th_frame *frame;
    th_draw *draws; /* [draw lists * most_hold] */
    uint32_t draw_count;
    th_view view;           /* of the last frame */
    th_screen_error *error; /* NULL: not measured */
    float *visible_px;      /* of the last measured frame, ascending */

    th_gpu_evaluator *evaluator;   /* NULL: the CPU poses */
    th_gpu_cull *gpu_cull;         /* NULL: the CPU culls */
    th_error fallback;             /* what the CPU does that the GPU was to, and why; or an empty text */
    th_surroundings *surroundings; /* NULL: none */
    th_ring *ring;
    th_crowd_renderer *renderer;
};

#endif
