/* Shared by the files of synthetic models.
 *
 *   synthetic.c  builds the model
 *   skeleton.c   hierarchy and rest pose
 *   mesh.c       a prism for every joint
 *   weights.c    morph targets
 *   clips.c      the motion */
#ifndef TH_ANIM_SYNTHETIC_PARTS_H
#define TH_ANIM_SYNTHETIC_PARTS_H

#include <core/arena.h>
#include <core/random.h>
#include <throng/anim/synthetic.h>

#include <math.h>

#define HEIGHT_M 1.8

/* A joint and the segment from it along its own Y axis. Metres. */
typedef struct th_synthetic_bone {
    uint32_t parent, level; /* level: 0 for the root */
    double offset;          /* from the parent's joint along the parent's axis */
    double rotation[4];     /* parent_from_joint at rest */
    double length, radius, tip_radius;
} th_synthetic_bone;

/* Separate random streams for each use of the seed. */
enum { STREAM_LIMBS, STREAM_BENDS, STREAM_CLIPS };

/* sin(2 pi turns), accurate to 1e-11: Taylor series on a quarter turn to either side. Unlike a library's sine, gives
 * the same bits on every platform. */
static inline double sin_turns(double turns)
{
    double x = turns - floor(turns + 0.5);
    x = x > 0.25 ? 0.5 - x : x < -0.25 ? -0.5 - x : x;
    x *= 6.283185307179586;
    const double x2 = x * x;
    double term = x, sum = x;
    for (int n = 2; n < 18; n += 2) {
        term *= -x2 / (n * (n + 1));
        sum += term;
    }
    return sum;
}

static inline double cos_turns(double turns)
{
    return sin_turns(turns + 0.25);
}

/* Rotates about an axis (0 X, 1 Y, 2 Z). */
static inline void turn_about(int axis, double turns, double out[4])
{
    out[0] = out[1] = out[2] = 0;
    out[axis] = sin_turns(turns / 2);
    out[3] = cos_turns(turns / 2);
}

/* Depth first; the arrays have desc->joints elements. */
void th_synthetic_lay_bones(const th_synthetic_desc *desc, th_synthetic_bone *bones);

/* Add a part of the model, which must have an arena. Call in this order. Return false if out of memory. */
bool th_synthetic_add_skeleton(th_model *model, const th_synthetic_bone *bones, uint32_t count);
bool th_synthetic_add_mesh(th_model *model, const th_synthetic_bone *bones);
bool th_synthetic_add_weights(th_model *model, const th_synthetic_desc *desc);
bool th_synthetic_add_clips(th_model *model, const th_synthetic_bone *bones, const th_synthetic_desc *desc);

#endif
