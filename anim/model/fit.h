/* How the skeleton of a model that lends clips fits that of the model that takes them. */
#ifndef TH_ANIM_FIT_H
#define TH_ANIM_FIT_H

#include <core/arena.h>
#include <throng/anim/model.h>

#define NO_TARGET TH_NO_INDEX
#define AMBIGUOUS (TH_NO_INDEX - 1)

/* Arrays are by joint of the donor. */
typedef struct fit {
    uint32_t *targets; /* of the base: that of the same name; or else the only one of the same name without namespace,
                          which ends at the last ':', and in any case; NO_TARGET or AMBIGUOUS */
    double *factors;   /* what makes a length of the donor, in the space of the joint's parent, one of the base */
    double *units;     /* how large a unit of that space is in the scene */
    uint32_t hips;     /* of the donor, or TH_NO_INDEX */
    double length, base_length;   /* from the lowest joint up to the hips; 0: no hips are known */
    double worst_deg, median_deg; /* by how much rest rotations or bones differ, of joints that clips turn */
    uint32_t worst;               /* joint of the donor */
} fit;

/* Arrays are in the arena. It is incomplete where that has failed. */
void find_fit(th_arena *arena, const th_model *base, const th_model *donor, fit *out);

#endif
