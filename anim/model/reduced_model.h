/* A model of which some joints are held. Private to anim. */
#ifndef TH_ANIM_MODEL_REDUCED_MODEL_H
#define TH_ANIM_MODEL_REDUCED_MODEL_H

#include "rebind.h"

/* Joints that are held have their mean pose as rest and no channels; bones are left out as th_rebind_bone says. Borrows
 * everything else from the skeleton's model. NULL when out of memory. Free it with th_model_free. */
th_model *th_reduced_model_create(const th_held_skeleton *skeleton);

#endif
