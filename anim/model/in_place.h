/* Clips that carry the model away, played in place. Private to anim. */
#ifndef TH_ANIM_MODEL_IN_PLACE_H
#define TH_ANIM_MODEL_IN_PLACE_H

#include <throng/anim/interpolation.h>
#include <throng/anim/model.h>
#include <throng/core/arena.h>

/* *out is the model itself, or shares all with it but the clips that carry it away (TH_ROOT_MOTION_BAKED) and walk:
 * their root stays where it began. It lives as long as the model and the arena. false: out of memory. */
bool th_model_in_place(const th_model *model, th_interpolation interpolation, th_arena *arena, const th_model **out);

#endif
