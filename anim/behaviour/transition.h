/* From one clip to another: the positions in both, and how far the character walks meanwhile. Private to anim. */
#ifndef TH_ANIM_BEHAVIOUR_TRANSITION_H
#define TH_ANIM_BEHAVIOUR_TRANSITION_H

#include "feet.h"

#include <anim/behaviour.h>

#include <math.h>

#define TH_TRANSITION_STEPS 48u

typedef struct th_transition {
    uint32_t from, to; /* clips */
    double duration_s;
    double weight_begin, weight_end; /* parts of it between which the weight of the new clip rises */
    double from_ratio; /* where the old clip must be at the begin, in [0, 1); NAN: anywhere, and ratios are added */
    double from_ratios[TH_TRANSITION_STEPS + 1]; /* positions at equal distances of time; not wrapped */
    double to_ratios[TH_TRANSITION_STEPS + 1];
    double travel[TH_TRANSITION_STEPS + 1]; /* 0 at the begin */
} th_transition;

/* The two clips at a moment of the transition. */
typedef struct th_transition_moment {
    double from_ratio, to_ratio, travel; /* ratios are not wrapped */
    float to_weight;
} th_transition_moment;

/* Weight of the new clip when a part of the transition has passed. */
static inline float th_transition_weight(const th_transition *t, double part)
{
    return th_fade_weight((part - t->weight_begin) / (t->weight_end - t->weight_begin));
}

th_transition_moment th_transition_at(const th_transition *transition, double since_s);

/* A transition in place, which may begin anywhere in the old clip. */
void th_transition_fade(const th_model *model, uint32_t from, uint32_t to, th_transition *out);

/* A transition between two clips of the repertoire. false: out of memory. */
bool th_transition_walk(const th_model *model, const th_repertoire *repertoire, th_interpolation interpolation,
                        uint32_t from, uint32_t to, th_transition *out);

/* Position in a clip that starts over. */
static inline double th_ratio_wrapped(double ratio)
{
    return ratio - floor(ratio);
}

/* How far the second gait is ahead when the two are in step. */
double th_gait_lead(th_feet *feet, uint32_t a, uint32_t b);

/* Speed of the clip, 0 if it stands. */
double th_repertoire_speed(const th_repertoire *repertoire, uint32_t clip);

/* Clip seconds; 1 for a clip without duration. */
double th_clip_length_s(const th_model *model, uint32_t clip);

#endif
