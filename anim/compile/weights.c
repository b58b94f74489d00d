#include "weights.h"

#include <throng/anim/exact.h>

#include <assert.h>
#include <math.h>

uint32_t th_weights_entries(const th_model *model)
{
    return th_palette_entries(0, model->weight_count);
}

/* Whether the track ever differs from the weight at rest. */
static bool moves(const th_model *model, const th_weight_track *track)
{
    bool moved = track->track.tangents;
    for (uint32_t k = 0; k < track->track.key_count; k++)
        moved |= track->track.values[k] != model->weights[track->weight].rest;
    return moved;
}

uint32_t th_weights_find_moving(const th_model *model, uint32_t *out)
{
    assert(model && out);
    const uint32_t entries = th_weights_entries(model);
    uint32_t count = 0;
    for (uint32_t e = 0; e < entries; e++)
        out[e] = 0;
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t t = 0; t < model->clips[c].weight_track_count; t++)
            out[model->clips[c].weight_tracks[t].weight / TH_ENTRY] |= moves(model, &model->clips[c].weight_tracks[t]);
    for (uint32_t e = 0; e < entries; e++)
        if (out[e])
            out[count++] = e;
    return count;
}

th_joint_op th_weights_op(const th_model *model, uint32_t entry, bool moving, size_t key)
{
    assert(model && entry < th_weights_entries(model) && key <= UINT32_MAX);
    th_joint_op op = {
        .flags = moving ? TH_JOINT_OP_WEIGHTS : 0, .parent = TH_NO_PARENT, .key = moving ? (uint32_t)key : 0};
    for (uint32_t i = 0; !moving && i < TH_ENTRY && entry * TH_ENTRY + i < model->weight_count; i++)
        op.local[i] = model->weights[entry * TH_ENTRY + i].rest;
    return op;
}

void th_weights_write_keys(const th_compiled_model *compiled, const double *weights, float *out)
{
    const uint32_t count = compiled->model->weight_count;
    for (uint32_t e = 0; e < compiled->weight_entry_count; e++)
        for (uint32_t i = 0; i < TH_ENTRY; i++) {
            const uint32_t w = compiled->weight_entries[e] * TH_ENTRY + i;
            *out++ = w < count ? (float)weights[w] : 0;
        }
}

/* ---- ranges ---- */

/* The range of one weight: base is the least so far, span the most. */
typedef struct extremes {
    float *base, *span;
    const th_weight_track *track;
    th_interpolation interpolation;
    int64_t *budget;
} extremes;

static double add_moment(extremes *x, double ticks)
{
    const double value = th_exact_weight(x->track, ticks, x->interpolation);
    *x->base = fminf(*x->base, (float)value);
    *x->span = fmaxf(*x->span, (float)value);
    --*x->budget;
    return value;
}

/* Adds the key beyond an end of a cubic curve, as if it were compiled on the grid of this track. */
static void add_beyond(extremes *x, double end, double inner)
{
    const double beyond = 2 * add_moment(x, end) - add_moment(x, inner);
    *x->base = fminf(*x->base, (float)beyond);
    *x->span = fmaxf(*x->span, (float)beyond);
}

/* Adds the keys, and between keys the extremes where a curve may leave their range. */
static void add_track(extremes *x, bool cubic, double duration)
{
    const th_track *track = &x->track->track;
    const uint32_t last = track->key_count - 1;
    const int parts = cubic || track->tangents ? 16 : 1;
    add_moment(x, 0);
    for (uint32_t k = 0; k <= last && *x->budget > 0; k++) {
        const double time = track->times[k], next = track->times[k < last ? k + 1 : k];
        for (int part = 0; part < parts; part++)
            add_moment(x, time + (next - time) * part / parts);
    }
    if (!cubic)
        return;
    add_beyond(x, 0, track->times[last > 0 && !(track->times[0] > 0)]);
    add_beyond(x, duration, track->times[last > 0 && !(track->times[last] < duration) ? last - 1 : last]);
}

static void begin_ranges(const th_compiled_model *compiled, th_key_range *out)
{
    const th_model *model = compiled->model;
    for (uint32_t i = 0; i < compiled->weight_entry_count * TH_ENTRY; i++) {
        const uint32_t w = compiled->weight_entries[i / TH_ENTRY] * TH_ENTRY + i % TH_ENTRY;
        th_key_range *range = &out[i / TH_KEY];
        range->base[i % TH_KEY] = range->span[i % TH_KEY] = w < model->weight_count ? model->weights[w].rest : 0;
    }
}

void th_weights_find_ranges(const th_compiled_model *compiled, th_key_range *out, int64_t *budget)
{
    begin_ranges(compiled, out);
    for (uint32_t c = 0; c < compiled->model->clip_count; c++) {
        const th_clip *clip = &compiled->model->clips[c];
        uint32_t e = 0;
        for (uint32_t t = 0; *budget > 0 && t < clip->weight_track_count; t++) {
            const uint32_t weight = clip->weight_tracks[t].weight;
            while (e < compiled->weight_entry_count && compiled->weight_entries[e] < weight / TH_ENTRY)
                e++;
            if (e == compiled->weight_entry_count || compiled->weight_entries[e] != weight / TH_ENTRY)
                continue; /* no clip moves a weight of its entry */
            const uint32_t i = e * TH_ENTRY + weight % TH_ENTRY;
            extremes x = {&out[i / TH_KEY].base[i % TH_KEY], &out[i / TH_KEY].span[i % TH_KEY], &clip->weight_tracks[t],
                          compiled->interpolation, budget};
            add_track(&x, compiled->program.curve == TH_INTERPOLATION_CUBIC, clip->duration_ticks);
        }
    }
}
