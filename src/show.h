/* A crowd and all it takes to draw it: what `render` and `view` have in common.
 *
 * A frame places the characters, picks those that the camera sees, has workers pose just these, straight into memory
 * that the GPU reads, and draws them. The context's thread calls; workers are the show's own. */
#ifndef TH_SHOW_H
#define TH_SHOW_H

#include "cast.h"

#include <throng/camera.h>
#include <throng/figure.h>
#include <throng/gl.h>
#include <throng/layout.h>
#include <throng/painter.h>

typedef struct th_show th_show;

/* Of the last frame. */
typedef struct th_show_stats {
    uint32_t shown;                  /* characters posed and drawn */
    uint32_t by_lod[TH_FIGURE_LODS]; /* of these */
    uint64_t place_ns;               /* placing, culling, sorting */
    uint64_t wait_ns;                /* for the GPU to be done with the slot */
    uint64_t pose_ns;                /* until the last palette was written */
    uint64_t draw_ns;                /* telling the driver; a software renderer draws later */
} th_show_stats;

/* Options and cast must outlive the show. */
th_result th_show_create(const th_options *options, const th_cast *cast, th_gl *gl, th_show **out, th_error *err);
void th_show_destroy(th_show *show); /* NULL does nothing */

/* One that sees the whole crowd, from where the options say. */
th_camera th_show_camera(const th_show *show, float aspect);

void th_show_frame(th_show *show, double time_s, const th_camera *camera, const th_target *target, uint32_t width,
                   uint32_t height);

/* The same up to drawing. False when the driver lost what was written. */
bool th_show_pose(th_show *show, double time_s, const th_camera *camera, uint32_t width, uint32_t height);

/* The same with palettes that are already in place. The last TH_RING_SLOTS frames must have been of one moment, seen by
 * this camera. */
void th_show_again(th_show *show, const th_camera *camera, const th_target *target, uint32_t width, uint32_t height);

th_show_stats th_show_get_stats(const th_show *show);
const th_painter *th_show_painter(const th_show *show);
const th_ring *th_show_ring(const th_show *show);
const th_crowd *th_show_crowd(const th_show *show);
const th_scene *th_show_scene(const th_show *show);

#endif
