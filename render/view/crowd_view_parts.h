/* The parts of a crowd view. Two crowd views may share parts (th_crowd_view_prepare), so nothing here changes except
 * what each frame computes anew. */
#ifndef TH_RENDER_VIEW_CROWD_VIEW_PARTS_H
#define TH_RENDER_VIEW_CROWD_VIEW_PARTS_H

#include <throng/render/crowd_view.h>
#include <throng/render/cull.h>
#include <throng/runtime/frame.h>

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
    th_walk *walks;                 /* [instance]; NULL if nobody moves */
    th_gpu_instance *gpu_instances; /* [instance] where characters stand; Z is that of time 0 */
    th_cull *cull;
    uint32_t group_count; /* of the cull */

    th_crowd *crowd;
    th_jobs *jobs;
    th_frame *frame;
    th_draw *draws; /* [group_count] */
    th_view view;   /* of the last frame */

    th_ring *ring;
    th_crowd_renderer *renderer;
};

#endif
