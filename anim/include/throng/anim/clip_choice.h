/* Which clip of some models a text means. */
#ifndef THRONG_ANIM_CLIP_CHOICE_H
#define THRONG_ANIM_CLIP_CHOICE_H

#include <throng/anim/model.h>
#include <throng/core/error.h>

/* By name, else by number: a clip may be called "1". TH_NO_INDEX: the model has none. */
uint32_t th_clip_find(const th_model *model, const char *text);

/* For a text that means none of any model: says so, and what may have been meant. Returns TH_ERR_USAGE. */
th_result th_clip_refuse(const char *text, th_model *const *models, uint32_t count, th_error *err);

#endif
