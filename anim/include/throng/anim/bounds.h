/* Where a model's mesh can be while it plays, and how fast a clip walks: for those who place, cull and frame models
 * without knowing clips.
 *
 * For set-up, not for frames: poses are sampled. Pure functions; any thread. TH_ERR_MEMORY is all that can go wrong. */
#ifndef THRONG_ANIM_BOUNDS_H
#define THRONG_ANIM_BOUNDS_H

#include <throng/anim/exact.h>

/* Instead of a clip's index: the rest pose and every clip. */
#define TH_ALL_CLIPS (TH_NO_INDEX - 1)

/* In scene units, in the space of one instance: where the clip's root takes the mesh counts. */
typedef struct th_bounds {
    double centre[3];
    double radius;
    double reach;    /* no vertex is farther than this from the Y axis; not padded */
    double lowest_y; /* of any vertex, as sampled; not padded, so that who stands on the ground does not float */
} th_bounds;

/* A sphere that holds every vertex.
 *
 * clip: an index, TH_NO_INDEX for the rest pose, or TH_ALL_CLIPS.
 *
 * Poses are exact ones: at all key times and at one or more moments between any two; or, where that were more than
 * TH_BOUNDS_MAX_SAMPLES a clip (fewer for models of many joints and clips), at equal distances. A joint carries a ball
 * around the vertices that follow it, so that no mixture of influences leaves the balls. Between two samples a ball is
 * taken to leave their straight line by no more than the middle sample does from its neighbours', four times what a
 * smooth curve does there. Keys that stand closer than the samples, which a sampled clip can have, may escape this.
 * On top comes 1 part in 500 of the radius and of the way to the origin: more than a compiled clip or a palette in half
 * precision is off.
 *
 * lowest_y looks at the same poses, and at every n-th vertex of meshes so large that it would take seconds.
 *
 * A model without vertices is its joints, each a ball of a twentieth of the model's size, room for what is drawn
 * around them; its lowest_y is that of the joints themselves. */
#define TH_BOUNDS_MAX_SAMPLES 2049u
th_result th_model_bounds(const th_model *model, uint32_t clip, th_interpolation interpolation, th_bounds *out,
                          th_error *err);

typedef enum th_travel_kind {
    TH_TRAVEL_NONE, /* stays where it is */
    TH_TRAVEL_ROOT, /* the clip itself moves the model away, and at its end jumps back */
    TH_TRAVEL_FEET, /* stays in place, and walks: over ground that passes at this speed the feet do not slide */
} th_travel_kind;

typedef struct th_travel {
    th_travel_kind kind;
    double speed;       /* along the ground, scene units per second of the clip; 0 for NONE */
    double heading_rad; /* where to: 0 is +Z, a quarter turn +X; 0 for NONE */
    double loop_s;      /* ROOT: after how many seconds of the clip it jumps back; 0 for the others */
} th_travel;

/* How a clip walks. clip: an index, or TH_NO_INDEX for the rest pose, which does not.
 *
 * ROOT is when the mesh ends more than a tenth of the model's size away from where it began, along the ground. Else the
 * speed is estimated, from the vertices (the joints, of a model without any) within 1.5 % of the model's size above the
 * lowest point of the clip: the median of their velocities is that of feet on the ground. A clip is one that stays in
 * place where this is less than 5 % of the model's size a second, where the velocities disagree (the middle half of
 * them spreads over more than the speed), or where nothing is near the ground for three quarters of the time; and where
 * what is near the height at which something usually is goes the other way: feet that swing below it do not walk. */
th_result th_clip_travel(const th_model *model, uint32_t clip, th_interpolation interpolation, th_travel *out,
                         th_error *err);

#endif
