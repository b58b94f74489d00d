/* Masks in the order of ops. Private to anim. */
#ifndef TH_ANIM_COMPILE_MASKS_H
#define TH_ANIM_COMPILE_MASKS_H

#include "compiled_data.h"

/* Sets mask_weights. Call when the ops are complete. Returns false when out of memory. */
bool th_masks_compile(th_compiled_model *compiled);

#endif
