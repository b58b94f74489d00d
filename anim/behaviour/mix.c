/* The pace is kept exactly: the gaits' common phase advances so fast that the feet of the blend, which move back by its
 * stride in a loop, move back at the pace. */
#include "mix.h"

#include "transition.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define PHASES      32u  /* poses in which a stride is measured */
#define LEAST_APART 0.02 /* gaits that differ less in speed are one sample */
#define CREEP                                                                                                          \
    0.05                /* times the slowest gait: at this pace and above that gait plays more slowly instead of being \
                           blended with standing, in whose blends feet hardly leave the ground */
#define LEAST_PACE 1e-3 /* times the slowest gait: a stride is not divided by less */
#define PLAUSIBLE  0.3  /* a measured stride differs less from the mean of those of the clips, as a part of it */

/* ---- samples ---- */

static void add_sample(th_pace_space *s, const th_pace_sample *added)
{
    const double last = s->count > 0 ? s->samples[s->count - 1].speed : -1;
    if (s->count < TH_PACE_SAMPLES && added->speed > last * (1 + LEAST_APART))
        s->samples[s->count++] = *added;
}

/* ---- strides ---- */

/* Between two samples. */
typedef struct place {
    uint32_t low; /* sample */
    double part;  /* of the way to the next one; 0 if there is none */
} place;

static place place_of(const th_pace_space *s, double pace)
{
    uint32_t low = 0;
    while (low + 2 < s->count && pace >= s->samples[low + 1].speed)
        low++;
    if (s->count < 2)
        return (place){0, 0};
    const double from = s->samples[low].speed, to = s->samples[low + 1].speed;
    const double width = from > 0 ? to - from : CREEP * to;
    return (place){low, fmin(fmax((pace - from) / width, 0), 1)};
}

static double own_stride(const th_pace_sample *sample)
{
    return sample->speed * sample->length_s;
}

static void pose(th_feet *f, const th_pace_space *s, place at, double phase)
{
    th_layer layers[2];
    uint32_t count = 0;
    for (uint32_t k = 0; k < 2; k++) {
        const double weight = k == 0 ? 1 - at.part : at.part;
        if (!(weight > 0))
            continue;
        const th_pace_sample *sample = &s->samples[at.low + k];
        layers[count++] = (th_layer){.ratio = sample->speed > 0 ? th_ratio_wrapped(phase + sample->lead) : 0,
                                     .weight = (float)weight,
                                     .clip = (uint16_t)sample->clip,
                                     .mask = TH_NO_MASK};
    }
    th_feet_pose(f, layers, count);
}

/* Of the blend at a place between samples. */
static double measure_stride(th_feet *f, const th_pace_space *s, place at, double heading_rad)
{
    /* The mean of those of the clips. */
    const double low = own_stride(&s->samples[at.low]);
    const double mean = at.part > 0 ? low + at.part * (own_stride(&s->samples[at.low + 1]) - low) : low;
    double stride = 0;
    if (!(mean > 0))
        return 0;
    pose(f, s, at, 0);
    for (uint32_t n = 1; n <= PHASES; n++) {
        pose(f, s, at, (double)n / PHASES);
        const double step = th_feet_step(f, heading_rad);
        stride += isnan(step) ? mean / PHASES : step;
    }
    return fabs(stride - mean) < PLAUSIBLE * mean ? stride : mean;
}

static double stride_at(const th_pace_space *s, place at)
{
    const double x = at.part * TH_PACE_STEPS;
    const uint32_t step = x < TH_PACE_STEPS ? (uint32_t)x : TH_PACE_STEPS - 1;
    const double *low = &s->strides[at.low * TH_PACE_STEPS + step];
    return at.part > 0 ? low[0] + (x - step) * (low[1] - low[0]) : low[0];
}

bool th_pace_space_make(const th_model *model, const th_repertoire *repertoire, th_interpolation interpolation,
                        th_pace_space *s)
{
    assert(model && repertoire && s);
    *s = (th_pace_space){0};
    if (repertoire->gait_count == 0)
        return true;
    th_feet f = {0};
    const uint32_t idle = repertoire->idle, slowest = repertoire->gaits[0].clip;
    if (!th_feet_init(&f, model, interpolation, idle != TH_NO_INDEX ? idle : slowest)) {
        th_feet_fini(&f);
        return false;
    }
    if (idle != TH_NO_INDEX)
        add_sample(s, &(th_pace_sample){.clip = idle, .length_s = th_clip_length_s(model, idle)});
    for (uint32_t g = 0; g < repertoire->gait_count; g++) {
        const th_gait *gait = &repertoire->gaits[g];
        s->gaits[s->gait_count++] = (th_pace_sample){.clip = gait->clip,
                                                     .speed = gait->speed,
                                                     .lead = g > 0 ? th_gait_lead(&f, slowest, gait->clip) : 0,
                                                     .length_s = th_clip_length_s(model, gait->clip)};
        add_sample(s, &s->gaits[g]);
    }

    uint32_t clips[TH_PACE_SAMPLES];
    for (uint32_t k = 0; k < s->count; k++)
        clips[k] = s->samples[k].clip;
    th_feet_find_ground(&f, clips, s->count);
    for (uint32_t n = 0; n <= (s->count - 1) * TH_PACE_STEPS; n++) {
        const uint32_t low = n / TH_PACE_STEPS, last = s->count > 1 && low == s->count - 1;
        const place at = {low - last, last ? 1 : (double)(n % TH_PACE_STEPS) / TH_PACE_STEPS};
        s->strides[n] = measure_stride(&f, s, at, repertoire->heading_rad);
    }
    th_feet_fini(&f);
    return true;
}

/* ---- what is asked for ---- */

typedef struct wish {
    const th_model *model;
    const th_pace_space *space;
    const th_blend *blend;
    bool has_pace; /* otherwise weights count */
    place at;      /* of the pace */
} wish;

static double wanted_weight(const wish *w, uint32_t clip)
{
    if (w->has_pace) {
        const th_pace_sample *low = &w->space->samples[w->at.low];
        return clip == low[0].clip ? 1 - w->at.part : w->at.part > 0 && clip == low[1].clip ? w->at.part : 0;
    }
    for (uint32_t k = 0; k < w->blend->clip_count; k++)
        if (strcmp(w->blend->clips[k].name, w->model->clips[clip].name) == 0)
            return w->blend->clips[k].weight;
    return w->blend->clip_count == 0;
}

/* NULL: the clip is not in step with others. */
static const th_pace_sample *gait_of(const th_pace_space *space, uint32_t clip)
{
    for (uint32_t k = 0; k < space->gait_count; k++)
        if (space->gaits[k].clip == clip)
            return &space->gaits[k];
    return NULL;
}

/* ---- the clips of a change ---- */

static float weight_at(const th_mix *mix, const th_mix_clip *clip, double time_s)
{
    const float x = th_fade_weight((time_s - mix->begin_s) / mix->duration_s);
    return clip->from + (clip->to - clip->from) * x;
}

/* Whoever is asked for comes before all that only fade out. */
static float importance(const th_mix_clip *clip)
{
    return clip->to > 0 ? 2 + clip->to : clip->from;
}

/* Keeps the most important clips, in the order of the model. */
static void add_clip(th_mix *mix, const th_mix_clip *added)
{
    uint32_t at = mix->count;
    if (at == TH_MAX_LAYERS) {
        for (uint32_t k = at = 0; k < mix->count; k++)
            if (importance(&mix->clips[k]) < importance(&mix->clips[at]))
                at = k;
        if (importance(added) <= importance(&mix->clips[at]))
            return;
        memmove(&mix->clips[at], &mix->clips[at + 1], (mix->count - 1 - at) * sizeof *mix->clips);
        mix->count--;
    }
    mix->clips[mix->count++] = *added;
}

/* ---- rates ---- */

/* The integral of what goes over from rate[0] to rate[1], since the change began. */
static double advanced(const th_mix *mix, const double rate[2], double time_s)
{
    const double since_s = time_s - mix->begin_s, x = fmin(fmax(since_s / mix->duration_s, 0), 1);
    const double risen = x * x * x - x * x * x * x / 2;
    const double settled_s = fmax(since_s - mix->duration_s, 0);
    return rate[0] * since_s + (rate[1] - rate[0]) * (risen * mix->duration_s + settled_s);
}

static double rate_at(const th_mix *mix, const double rate[2], double time_s)
{
    const double x = (double)th_fade_weight((time_s - mix->begin_s) / mix->duration_s);
    return rate[0] + x * (rate[1] - rate[0]);
}

void th_mix_set(th_mix *mix, const th_model *model, const th_pace_space *space, const th_blend *blend, double time_s)
{
    assert(mix && model && space && blend);
    const th_mix before = *mix;
    const bool is_first = !(before.duration_s > 0), has_pace = blend->clip_count == 0 && space->count > 0;
    const wish w = {model, space, blend, has_pace, has_pace ? place_of(space, blend->pace) : (place){0}};
    *mix = (th_mix){.begin_s = time_s, .duration_s = TH_FADE_S};
    if (!is_first) {
        mix->phase = before.phase + advanced(&before, before.rate, time_s);
        mix->walked = th_mix_walked(&before, time_s);
        mix->rate[0] = rate_at(&before, before.rate, time_s);
        mix->speed[0] = rate_at(&before, before.speed, time_s);
    }

    for (uint32_t c = 0; c < model->clip_count && c < TH_REST_CLIP; c++) {
        const th_pace_sample *gait = gait_of(space, c);
        th_mix_clip clip = {.lead = gait ? gait->lead : 0,
                            .rate = gait ? 0 : 1 / th_clip_length_s(model, c),
                            .to = (float)wanted_weight(&w, c),
                            .clip = (uint16_t)c};
        for (uint32_t k = 0; k < before.count; k++)
            if (before.clips[k].clip == c)
                clip.from = weight_at(&before, &before.clips[k], time_s);
        if (clip.from > 0 || clip.to > 0)
            add_clip(mix, &clip);
    }

    /* Makes both sums of weights 1. Without weights before, those after are there at once. */
    double from = 0, to = 0;
    for (uint32_t k = 0; k < mix->count; k++) {
        from += (double)mix->clips[k].from;
        to += (double)mix->clips[k].to;
    }
    if (!(to > 0))
        mix->count = 0;
    for (uint32_t k = 0; k < mix->count; k++) {
        th_mix_clip *clip = &mix->clips[k];
        clip->to = (float)((double)clip->to / to);
        clip->from = from > 0 ? (float)((double)clip->from / from) : clip->to;
    }

    if (has_pace) {
        /* Somebody who stands leaves the rate to the gait that fades out, or in later: its feet slow down with its
         * weight, as the character does. */
        const bool may_stand = !(space->samples[0].speed > 0);
        const double slowest = space->samples[may_stand].speed;
        double pace = blend->pace;
        mix->speed[1] = pace;
        if (may_stand)
            pace = pace > 0 ? fmax(pace, LEAST_PACE * slowest) : slowest;
        mix->rate[1] = pace > 0 ? pace / stride_at(space, place_of(space, pace)) : 0;
    } else {
        double weight = 0, rate = 0, stride = 0;
        for (uint32_t k = 0; k < mix->count; k++) {
            const th_pace_sample *gait = gait_of(space, mix->clips[k].clip);
            if (!gait)
                continue;
            weight += (double)mix->clips[k].to;
            rate += (double)mix->clips[k].to / gait->length_s;
            stride += (double)mix->clips[k].to * own_stride(gait);
        }
        mix->rate[1] = weight > 0 ? rate / weight : mix->rate[0];
        mix->speed[1] = mix->rate[1] * stride;
    }
    if (is_first) {
        mix->rate[0] = mix->rate[1];
        mix->speed[0] = mix->speed[1];
    }
}

/* ---- at a time ---- */

uint32_t th_mix_layers(const th_mix *mix, double speed, double offset, double time_s, th_layer out[TH_BEHAVIOUR_LAYERS])
{
    const double phase = mix->phase + advanced(mix, mix->rate, time_s);
    uint32_t count = 0;
    for (uint32_t k = 0; k < mix->count; k++) {
        const th_mix_clip *clip = &mix->clips[k];
        const float weight = weight_at(mix, clip, time_s);
        const double passed = clip->rate > 0 ? clip->rate * time_s : phase;
        if (weight > 0)
            out[count++] = (th_layer){.ratio = th_ratio_wrapped(clip->lead + offset + speed * passed),
                                      .weight = fminf(weight, 1),
                                      .clip = clip->clip,
                                      .mask = TH_NO_MASK};
    }
    return count;
}

double th_mix_walked(const th_mix *mix, double time_s)
{
    return mix->walked + advanced(mix, mix->speed, time_s);
}
