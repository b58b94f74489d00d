/* The points of a model that may touch the ground, in two poses one after the other. Private to anim. */
#ifndef TH_ANIM_BEHAVIOUR_FEET_H
#define TH_ANIM_BEHAVIOUR_FEET_H

#include "model/bounds_proxy.h"

#include <core/arena.h>
#include <throng/throng.h>

typedef struct th_feet {
    th_bounds_proxy proxy;
    th_ground_contacts points;
    double (*before)[3], (*now)[3];
    double lowest_before, lowest, ground;
    double *moved;
    double (*slid)[2]; /* X and Z, since the point came to stand */
    th_dmat34 *local;
    double *weights;
    th_dmat34 *poses; /* scratch of th_gait_lead */
    th_arena *arena;
} th_feet;

#define TH_GAIT_LEAD_POSES 64u

/* clip: the one whose first pose shows which points may touch. false: out of memory; th_feet_fini must follow. */
bool th_feet_init(th_feet *feet, const th_model *model, th_interpolation interpolation, uint32_t clip);
void th_feet_fini(th_feet *feet);

/* What is now becomes what was before. */
void th_feet_advance(th_feet *feet);
/* Where the points are in the proxy's pose. */
void th_feet_locate(th_feet *feet);
/* The next pose: that of layers without masks. */
void th_feet_pose(th_feet *feet, const th_layer *layers, uint32_t count);
/* Sets the ground to the lowest point of all these clips. */
void th_feet_find_ground(th_feet *feet, const uint32_t *clips, uint32_t count);

/* How far the points on the ground have moved backwards since the pose before. Where a foot drags because it is about
 * to leave the ground or to reach it, the other one counts, which moves back faster. NAN if none is on the ground. */
double th_feet_step(const th_feet *feet, double heading_rad);

/* Adds how far the points on the ground have slid since the pose before, while the character moved by `step`. Returns
 * the longest slide of a point since it came to stand: feet->slid. */
double th_feet_slide(th_feet *feet, double heading_rad, double step);

/* Marks the points on the ground in the first pose of a clip, in feet->moved, and returns their number. */
size_t th_feet_mark_standing(th_feet *feet, uint32_t clip);

#endif
