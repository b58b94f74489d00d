/* Clips that carry the model away, played in place. Private to anim. */
#ifndef TH_ANIM_MODEL_MOTION_H
#define TH_ANIM_MODEL_MOTION_H

#include <anim/model.h>
#include <core/arena.h>
#include <throng/throng.h>

/* A model of which another one is a joint level, with the same clips: authored, and as this function left it. */
typedef struct th_in_place_source {
    const th_model *authored, *in_place;
} th_in_place_source;

/* *out is the model itself, or shares all with it but the clips that carry it away (TH_ROOT_MOTION_BAKED) and walk:
 * their root stays where it began. It lives as long as the model and the arena. source: whose clips decide, since feet
 * that a level holds do not show that it walks; NULL: the model's own. false: out of memory. */
bool th_model_in_place(const th_model *model, th_interpolation interpolation, const th_in_place_source *source,
                       th_arena *arena, const th_model **out);

#endif
