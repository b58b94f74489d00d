/* Finds the clip that a text names. */
#ifndef THRONG_ANIM_CLIP_CHOICE_H
#define THRONG_ANIM_CLIP_CHOICE_H

#include <anim/model.h>
#include <core/error.h>

/* Finds a clip by name, otherwise by index, because a clip may be called "1". Returns TH_NO_INDEX if there is none. */
uint32_t th_clip_find(const th_model *model, const char *text);

/* Whether somebody in a crowd may play it unasked: it is longer than a pose, and none of the words of its name, such as
 * "Death_A" or "sittingIdle", says that he dies, sits or lies. */
bool th_clip_suits_crowds(const th_clip *clip);

/* Writes the error for a text that names no clip of any of the models, with a suggestion. Returns TH_ERR_USAGE. */
th_result th_clip_not_found(const char *text, th_model *const *models, uint32_t count, th_error *err);

#endif
