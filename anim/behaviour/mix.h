/* What BLEND plays of a model: clips with weights that go over from one set to the next. Private to anim. */
#ifndef TH_ANIM_BEHAVIOUR_MIX_H
#define TH_ANIM_BEHAVIOUR_MIX_H

#include <anim/behaviour.h>

#define TH_PACE_SAMPLES 16u
#define TH_PACE_STEPS   4u /* between two samples */

/* A clip at its speed over the ground. */
typedef struct th_pace_sample {
    uint32_t clip;
    double speed; /* 0: it stands, and is not in step with the others */
    double lead;  /* how far it is ahead when the gaits are in step, in [0, 1) */
    double length_s;
} th_pace_sample;

/* The idle clip and the gaits, from slow to fast, and how far their blends walk in a loop. Immutable. */
typedef struct th_pace_space {
    th_pace_sample samples[TH_PACE_SAMPLES];
    double strides[(TH_PACE_SAMPLES - 1) * TH_PACE_STEPS + 1];
    uint32_t count; /* the last one walks, so no gait: 0 */
    uint32_t gait_count;
    th_pace_sample gaits[]; /* all of the repertoire, also those that are no samples */
} th_pace_space;

static inline size_t th_pace_space_bytes(const th_repertoire *repertoire)
{
    return sizeof(th_pace_space) + repertoire->gait_count * sizeof(th_pace_sample);
}

/* *out has th_pace_space_bytes. Poses the model some hundred times. false: out of memory. */
bool th_pace_space_make(const th_model *model, const th_repertoire *repertoire, th_interpolation interpolation,
                        th_pace_space *out);

/* A clip with its weights before and after the change. */
typedef struct th_mix_clip {
    double lead, rate; /* rate: in clip lengths per second; 0: in step with the gaits */
    float from, to;
    uint16_t clip;
} th_mix_clip;

/* Rates change as weights do, from the first to the second. */
typedef struct th_mix {
    th_mix_clip clips[TH_MAX_LAYERS];
    uint32_t count;             /* 0: none of the clips that are asked for */
    double begin_s, duration_s; /* of the change */
    double phase, rate[2];      /* of the gaits: when the change begins, and in loops per second */
    double walked, speed[2];    /* over the ground */
} th_mix;

/* Goes over to `blend` from time_s on. Where more than TH_MAX_LAYERS clips would take part, those that only fade out
 * end at once, the lightest first. The first one is there at once: *mix must be zero before. */
void th_mix_set(th_mix *mix, const th_model *model, const th_pace_space *space, const th_blend *blend, double time_s);

/* speed: how fast the instance plays; offset: how far its phase is ahead. Returns the number of layers. */
uint32_t th_mix_layers(const th_mix *mix, double speed, double offset, double time_s,
                       th_layer out[TH_BEHAVIOUR_LAYERS]);

/* How far an instance of speed 1 has walked. */
double th_mix_walked(const th_mix *mix, double time_s);

#endif
