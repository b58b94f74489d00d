/* Bounds of an animated mesh, and the walking speed of a clip: for placing, culling and fitting a camera.
 *
 * These functions sample poses, so call them at set-up, not per frame. Pure functions; any thread. The only error is
 * TH_ERR_MEMORY. */
#ifndef THRONG_ANIM_BOUNDS_H
#define THRONG_ANIM_BOUNDS_H

#include <anim/exact.h>

/* Clip index that stands for the rest pose and all clips. */
#define TH_ALL_CLIPS (TH_NO_INDEX - 1)

typedef struct th_bounds_sphere {
    double centre[3], radius;
} th_bounds_sphere;

/* Equal parts of a clip. */
#define TH_BOUNDS_PARTS 16u

/* In model units, before an instance's scale, in the space of one instance. Includes movement of the root by the clip.
 */
typedef struct th_bounds {
    th_bounds_sphere all;
    th_bounds_sphere parts[TH_BOUNDS_PARTS]; /* during each part of the clip; undefined for TH_ALL_CLIPS */
    double reach;                            /* largest distance of a vertex from the Y axis; without margin */
    double lowest_y; /* of any vertex, as sampled; without margin, so that feet stay on the ground */
} th_bounds;

/* Computes spheres that contain every vertex.
 *
 * clip: an index, TH_NO_INDEX for the rest pose, or TH_ALL_CLIPS.
 *
 * Samples exact poses at all key times and at least once between any two. If that needs more than TH_BOUNDS_MAX_SAMPLES
 * per clip (fewer for models with many joints and clips), samples at equal distances. Each joint has a sphere around
 * the vertices that follow it, so a vertex with several influences stays within the spheres. Between two samples a
 * sphere is assumed to leave the straight line by at most what the middle sample leaves the line between its
 * neighbours, which is four times what a smooth curve does. Keys closer together than the samples may violate this. The
 * margin is 1/500 of the radius and of the distance to the origin, more than the error of compiled clips.
 *
 * Morph targets enlarge the spheres of the vertices that they move, by the weights at each sample.
 *
 * lowest_y uses the same poses. For very large meshes it uses every n-th vertex, to avoid taking seconds,
 * and for very many morph targets the meshes without them.
 *
 * A model without vertices is bounded by its joints, each a sphere of 1/20 of the model's size, which leaves room for
 * drawing them. Its lowest_y is that of the joints. */
#define TH_BOUNDS_MAX_SAMPLES 2049u
th_result th_model_bounds(const th_model *model, uint32_t clip, th_interpolation interpolation, th_bounds *out,
                          th_error *err);

typedef enum th_root_motion_kind {
    TH_ROOT_MOTION_NONE,     /* does not move over the ground */
    TH_ROOT_MOTION_BAKED,    /* the clip moves the model, which jumps back at the end of the clip */
    TH_ROOT_MOTION_IN_PLACE, /* walks in place: moved at this speed over the ground, the feet do not slide */
} th_root_motion_kind;

typedef struct th_root_motion {
    th_root_motion_kind kind;
    double speed;       /* along the ground, scene units per clip second; 0 for NONE */
    double heading_rad; /* 0 is +Z, pi/2 is +X; 0 for NONE */
    double loop_s;      /* TH_ROOT_MOTION_BAKED: clip seconds until it jumps back; otherwise 0 */
} th_root_motion;

/* Estimates the root motion of a clip. clip: an index, or TH_NO_INDEX for the rest pose, which has none.
 *
 * The kind is TH_ROOT_MOTION_BAKED if the mesh ends farther than a tenth of the model's size from where it began, along
 * the ground. Otherwise the speed is the median velocity of the ground contacts: vertices (joints, if there are none)
 * within 1.5 % of the model's size above the lowest point of the clip. The kind is TH_ROOT_MOTION_NONE if
 *   - that speed is less than 5 % of the model's size per second,
 *   - the velocities disagree: their interquartile range exceeds the speed,
 *   - nothing touches the ground for three quarters of the time, or
 *   - points near the height at which something usually is move the other way: feet that swing below it do not walk. */
th_result th_clip_root_motion(const th_model *model, uint32_t clip, th_interpolation interpolation, th_root_motion *out,
                              th_error *err);

#endif
