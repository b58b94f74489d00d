/* The parts of a crowd view. Two crowd views may share parts (th_crowd_view_prepare), so nothing here changes except
 * what each frame computes anew. */
#ifndef TH_RENDER_VIEW_CROWD_VIEW_PARTS_H
#define TH_RENDER_VIEW_CROWD_VIEW_PARTS_H

#include "gpu_cull.h"
#include "screen_error.h"
#include "surroundings.h"

#include <render/cull.h>
#include <throng/anim/joint_lod.h>
#include <throng/render/crowd_view.h>
#include <throng/runtime/animation_budget.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/pose_plan.h>

_Static_assert(TH_RENDER_MESH_LODS == TH_LOD_LEVELS, "a joint level for each");

struct th_crowd_view {
    th_crowd_view_desc desc;
    th_crowd_view_stats stats;
    th_tracer *tracer; /* may be NULL */

    th_joint_lod **joint_lods;    /* [model] NULL: only their own */
    th_posed_model *posed_models; /* those of the desc, then their joint levels */
    uint32_t posed_count;
    uint32_t (*posed_as)[TH_RENDER_MESH_LODS]; /* [model] index of the posed model at a level of detail */
    th_compiled_model **compiled_models;       /* [posed model] those of the desc are borrowed if it provides them */
    th_render_mesh **meshes;                   /* [posed model] */
    th_routines **routines;                    /* [model] NULL: no behaviour; an element: none in this model */
    th_locomotion *locomotions; /* each model's clips, then its rest pose, then its routines if it has any */
    uint32_t *first_locomotion;
    uint32_t locomotion_count;

    th_scene *scene;
    th_instance_motion *motions; /* [instance] */
    th_layout layout;
    th_behaviour *behaviour;        /* NULL: none */
    th_walk *walks;                 /* [instance]; NULL if nobody moves */
    th_weave *weaves;               /* [instance]; NULL if nobody moves or behaves */
    th_gpu_instance *gpu_instances; /* [instance] where characters stand; X and heading of those that weave are those of
                                       the last frame, Z of others that of time 0 */
    th_cull *cull;
    uint32_t group_count; /* of the cull */

    th_crowd *crowd;
    th_pose_plan *plan;
    th_pose_group *pose_groups; /* [group_count] */
    th_budget_means *means;     /* [model] with joint levels by level of detail; NULL without a budget */
    th_animation_budget budget;
    const th_crowd_view *budget_base; /* until it is complete: whose budget it then takes over; NULL: a new one */
    double last_s;                    /* time of the last frame; NaN: there was none */
    bool is_repeatable;
    th_gpu_instance *held_at; /* [instance] where it stood in its last own pose; NULL: nobody holds one */
    th_jobs *jobs;
    th_frame *frame;
    th_draw *draws; /* [group_count * most_hold] */
    uint32_t draw_count;
    th_view view;           /* of the last frame */
    th_screen_error *error; /* NULL: not measured */
    float *visible_px;      /* of the last measured frame, ascending */

    th_gpu_evaluator *evaluator;                            /* NULL: the CPU poses */
    th_gpu_cull *gpu_cull;                                  /* NULL: the CPU culls */
    th_gpu_cull_model gpu_models[TH_CROWD_VIEW_MAX_MODELS]; /* of the last frame */
    th_error fallback;             /* what the CPU does that the GPU was to, and why; or an empty text */
    th_surroundings *surroundings; /* NULL: none */
    th_ring *ring;
    th_crowd_renderer *renderer;
};

/* Whether characters may be posed with fewer joints. */
bool th_crowd_view_has_joint_levels(const th_crowd_view_desc *desc);

/* A metre, in scene units, if the first model is as tall as a person. */
double th_crowd_view_unit(const th_crowd_view *crowd_view);

/* crowd_view_posed.c */
th_result th_crowd_view_find_posed(th_crowd_view *crowd_view, th_error *err);
th_result th_crowd_view_compile(th_crowd_view *crowd_view, th_error *err);
th_result th_crowd_view_make_meshes(th_crowd_view *crowd_view, th_error *err);
void th_crowd_view_release_posed(th_crowd_view *crowd_view, const th_crowd_view *successor);

/* crowd_view_locomotion.c */
th_result th_crowd_view_make_routines(th_crowd_view *crowd_view, th_error *err);
th_result th_crowd_view_make_locomotions(th_crowd_view *crowd_view, th_error *err);
uint32_t th_crowd_view_locomotion_count(const th_crowd_view *crowd_view, uint32_t model);
uint32_t th_crowd_view_locomotion_of(const th_crowd_view *crowd_view, const th_instance *instance);

#endif
