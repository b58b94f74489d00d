/* The parts of a crowd view. Two crowd views may share parts (th_crowd_view_prepare), so nothing here changes except
 * what each frame computes anew. */
#ifndef TH_RENDER_VIEW_CROWD_VIEW_PARTS_H
#define TH_RENDER_VIEW_CROWD_VIEW_PARTS_H

#include <throng/render/crowd_view.h>
#include <throng/render/cull.h>
#include <throng/runtime/frame.h>

/* Lists of characters: those that the camera sees, and those out of sight with a visible shadow. */
enum { TH_LIST_VISIBLE, TH_LIST_CASTERS, TH_LIST_COUNT };

struct th_crowd_view {
    th_crowd_view_desc desc;
    th_crowd_view_stats stats;
    th_tracer *tracer; /* may be NULL */

    th_compiled_model **compiled_models; /* [model] borrowed if the desc provides them */
    th_render_mesh **meshes;             /* [model] */
    th_locomotion *locomotions;          /* each model's clips, then its rest pose */
    uint32_t *first_locomotion;
    uint32_t locomotion_count;

    th_scene *scene;
    th_instance_motion *motions; /* [instance] */
    th_layout layout;
    th_instance_transform *transforms; /* [instance], of this frame */
    bool is_static;                    /* the transforms are final, because no character walks */
    th_cull *cull;

    th_crowd *crowd;
    size_t instances_offset; /* in a slot, after all palettes */
    th_jobs *jobs;
    th_frame *frame;
    uint32_t *posed; /* instances: the visible ones, then the casters */
    th_draw *draws;  /* at most one per list, model and level */
    uint32_t draw_count;
    th_view view; /* of the last frame */

    th_ring *ring;
    th_crowd_renderer *renderer;
};

#endif
