/* What a crowd_view is made of. Parts may belong to two shows at a time (th_crowd_view_prepare), so nothing here
 * changes but what a frame computes anew. */
#ifndef TH_RENDER_VIEW_CROWD_VIEW_PARTS_H
#define TH_RENDER_VIEW_CROWD_VIEW_PARTS_H

#include <throng/render/crowd_view.h>
#include <throng/render/cull.h>
#include <throng/runtime/frame.h>

/* Lists of characters: the camera's, and that of those who only throw a shadow into its picture. */
enum { TH_LIST_VISIBLE, TH_LIST_CASTERS, TH_LIST_COUNT };

struct th_crowd_view {
    th_crowd_view_desc desc;
    th_crowd_view_stats stats;
    th_tracer *tracer; /* NULL, or gets them */

    th_compiled_model **compiled_models; /* [model]; not ours where the desc has them */
    th_render_mesh **meshes;             /* [model] */
    th_locomotion *locomotions;          /* for each model its clips, then its rest pose */
    uint32_t *first_locomotion;
    uint32_t locomotion_count;

    th_scene *scene;
    th_instance_motion *motions; /* [instance] */
    th_layout layout;
    th_instance_transform *transforms; /* [instance], of this frame */
    bool is_static;                    /* for good: nobody walks */
    th_cull *cull;

    th_crowd *crowd;
    size_t instances_offset; /* in a slot, behind the palettes of all */
    th_jobs *jobs;
    th_frame *frame;
    uint32_t *posed; /* instances: those seen, then the casters */
    th_draw *draws;  /* at most one for each list, model and level */
    uint32_t draw_count;
    th_view view; /* of the last frame */

    th_ring *ring;
    th_crowd_renderer *renderer;
};

#endif
