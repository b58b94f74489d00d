/* How the skeleton of a model that lends clips fits that of the model that takes them. */
#ifndef TH_ANIM_FIT_H
#define TH_ANIM_FIT_H

#include <anim/model.h>
#include <core/arena.h>

#define NO_TARGET TH_NO_INDEX
#define AMBIGUOUS (TH_NO_INDEX - 1)

/* Arrays are by joint of the donor. */
typedef struct fit {
    uint32_t *targets; /* of the base: that of the same name; or else the only one of the same name without namespace,
                          which ends at the last ':', and in any case; NO_TARGET or AMBIGUOUS */
    th_trs *frames;    /* from the space of the joint's parent to that of the target's: so that the joint moves as in
                          the donor's scene, or against the next joint above that both have and clips turn */
    double *units;     /* how large a unit of the space of the joint's parent is in the scene */
    uint32_t *still;   /* TH_TRANSLATION | TH_ROTATION: what clips hold as at rest, if all above is turned as at rest */
    uint32_t hips;     /* of the donor, or TH_NO_INDEX */
    bool by_hips;      /* else by size */
    double length, base_length;   /* from the lowest joint up to the hips, or in size */
    double ratio;                 /* of these, if it is more than 1 % */
    uint32_t bent_count, bent;    /* joints, and the first, whose space is stretched or mirrored: its axes stay */
    double worst_deg, median_deg; /* by how much rest rotations or bones differ, of joints that clips turn */
    uint32_t worst;               /* joint of the donor */
} fit;

/* Arrays are in the arena. It is incomplete where that has failed. */
void find_fit(th_arena *arena, const th_model *base, const th_model *donor, fit *out);

/* TH_TRANSLATION | ...: what keys of the donor hold where its joint is at rest. */
uint32_t still_parts(const th_model *donor, const fit *f, const th_channel *channel);

#endif
