/* Weights of morph targets as glTF animations. */
#ifndef TH_ANIM_EXPORT_WEIGHTS_H
#define TH_ANIM_EXPORT_WEIGHTS_H

#include "clip.h"

/* An animation while it is written. */
typedef struct th_animation {
    const th_clip *clip;
    uint32_t view;
    json_t *samplers, *channels;
} th_animation;

/* Time of the last key of a weight, in ticks; -1 if there is none. */
double th_export_last_weight(const th_clip *clip);

/* Adds a channel for each mesh of which the clip moves a weight. hold: with a key at the duration. */
void th_export_weights(th_glb *glb, const th_export_nodes *nodes, const th_animation *animation, bool hold);

#endif
