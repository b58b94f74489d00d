/* Moments spread evenly over all clips of a model. Private to anim. */
#ifndef TH_ANIM_MODEL_MOMENTS_H
#define TH_ANIM_MODEL_MOMENTS_H

#include <throng/anim/model.h>

/* clip: NULL for a model without clips, at rest. ticks: within the clip. */
typedef struct th_moment {
    const th_clip *clip;
    double ticks;
} th_moment;

/* Moment i of `count`. If count is a multiple of the number of clips, each has the middles of as many equal parts. */
static inline th_moment th_moment_at(const th_model *model, uint32_t count, uint32_t i)
{
    if (model->clip_count == 0)
        return (th_moment){NULL, 0};
    const double at = (i + 0.5) / count * model->clip_count;
    const th_clip *clip = &model->clips[(uint32_t)at];
    return (th_moment){clip, (at - (uint32_t)at) * clip->duration_ticks};
}

/* As many for each clip, at most `most`; fewer than one only if `affordable`, that of all clips,
 * is less than their number. */
static inline uint32_t th_moments_count(const th_model *model, uint32_t most, uint64_t affordable)
{
    if (model->clip_count == 0)
        return 1;
    const uint64_t each = affordable / model->clip_count;
    const uint64_t count = each > 0 ? (each < most ? each : most) * model->clip_count : affordable;
    return count > 0 ? (uint32_t)count : 1;
}

#endif
