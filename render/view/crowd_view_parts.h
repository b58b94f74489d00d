/* What a show is made of. Parts may belong to two shows at a time (th_show_prepare), so nothing here changes but what a
 * frame computes anew. */
#ifndef TH_RENDER_VIEW_CROWD_VIEW_PARTS_H
#define TH_RENDER_VIEW_CROWD_VIEW_PARTS_H

#include <throng/render/crowd_view.h>
#include <throng/render/cull.h>
#include <throng/runtime/frame.h>

/* Lists of characters: the camera's, and that of those who only throw a shadow into its picture. */
enum { TH_SHOW_SEEN, TH_SHOW_CASTERS, TH_SHOW_LISTS };

struct th_show {
    th_show_desc desc;
    th_show_stats stats;
    th_tracer *tracer; /* NULL, or gets them */

    th_rig **rigs;       /* [model]; not ours where the desc has them */
    th_figure **figures; /* [model] */
    th_stance *stances;  /* for each model its clips, then its rest pose */
    uint32_t *first_stance;
    uint32_t stance_count;

    th_scene *scene;
    th_stander *standers; /* [instance] */
    th_layout layout;
    th_location *places; /* [instance], of this frame */
    bool placed;         /* for good: nobody walks */
    th_cull *cull;

    th_crowd *crowd;
    size_t stands_offset; /* in a slot, behind the palettes of all */
    th_jobs *jobs;
    th_frame *frame;
    uint32_t *posed; /* instances: those seen, then the casters */
    th_draw *draws;  /* at most one for each list, model and level */
    uint32_t draw_count;
    th_view view; /* of the last frame */

    th_ring *ring;
    th_painter *painter;
};

#endif
