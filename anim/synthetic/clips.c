/* The motion: a wave that runs from the root to the tips, with whole cycles per clip. */
#include "parts.h"

#include <assert.h>

#define FULL_SWING 0.35 /* turns, total of all joints on the longest path; */
#define MOST_SWING 0.05 /* turns of one joint */
#define MOST_SCALE 0.1  /* relative change of scale */
#define ROOT_M     0.03 /* movement of the root */
#define WAVE_LAG   0.6  /* cycles by which the tips lag the root */
#define CYCLE_KEYS 12   /* minimum, so that keys show the wave and not an alias of it */
#define SLOWEST_HZ 0.4
#define FASTEST_HZ 0.8

/* Shared by all channels of a clip. */
typedef struct wave {
    uint64_t seed;
    uint32_t keys;
    double cycles, swing, stretch, depth;
    const double *times; /* of `keys` keys, from 0 */
} wave;

/* A cycle with a ripple of higher frequency. time: 0 to 1 over the clip. */
static double sway(const wave *w, double time, double lag)
{
    const double at = time * w->cycles - lag;
    return 0.8 * sin_turns(at) + 0.2 * sin_turns(2 * at + 0.1);
}

/* Value at key k of the clip; the last key equals the first. */
static double time_of(const wave *w, uint32_t k)
{
    assert(k < w->keys && w->keys >= TH_SYNTHETIC_MIN_KEYS);
    return (double)(k % (w->keys - 1)) / (w->keys - 1);
}

static double lag_of(const wave *w, const th_synthetic_bone *bone, uint32_t joint)
{
    return WAVE_LAG * bone->level / w->depth + 0.25 * th_random_unit(w->seed, joint);
}

static bool add_rotations(th_arena *arena, const wave *w, const th_synthetic_bone *bone, double lag, th_track *out)
{
    float *values = th_arena_new(arena, float, 4 * (size_t)w->keys);
    *out = (th_track){.key_count = w->keys, .times = w->times, .values = values};
    for (uint32_t k = 0; values && k < w->keys; k++) {
        const double time = time_of(w, k);
        double bend[4], tilt[4], q[4];
        turn_about(0, w->swing * sway(w, time, lag), bend);
        turn_about(2, w->swing / 2 * sway(w, time, lag + 0.3), tilt);
        th_quat_mul(bone->rotation, bend, q);
        th_quat_mul(q, tilt, q);
        for (uint32_t i = 0; i < 4; i++)
            values[4 * k + i] = (float)q[i];
    }
    return values;
}

/* Three numbers per key: middle + by * wave; a single key if nothing moves. */
static bool add_vectors(th_arena *arena, const wave *w, const double middle[3], const double by[3], double lag,
                        th_track *out)
{
    const bool still = by[0] == 0 && by[1] == 0 && by[2] == 0;
    const uint32_t keys = still ? 1 : w->keys;
    float *values = th_arena_new(arena, float, 3 * (size_t)keys);
    *out = (th_track){.key_count = keys, .times = w->times, .values = values};
    for (uint32_t k = 0; values && k < keys; k++)
        for (uint32_t i = 0; i < 3; i++)
            values[3 * k + i] = (float)(middle[i] + by[i] * sway(w, time_of(w, k), lag + 0.25 * i));
    return values;
}

static bool add_channel(th_arena *arena, const wave *w, const th_synthetic_bone *bone, uint32_t joint, th_channel *out)
{
    const double lag = lag_of(w, bone, joint), shift = joint == 0 ? ROOT_M : 0;
    const double at[3] = {0, bone->offset, 0}, shifts[3] = {shift, shift / 3, shift};
    const double one[3] = {1, 1, 1}, stretches[3] = {w->stretch, w->stretch, w->stretch};
    *out = (th_channel){.joint = joint, .filled = (joint > 0 ? TH_TRANSLATION : 0) | (w->stretch > 0 ? 0 : TH_SCALE)};
    return add_rotations(arena, w, bone, lag, &out->rotation) &&
           add_vectors(arena, w, at, shifts, lag, &out->translation) &&
           add_vectors(arena, w, one, stretches, lag, &out->scale);
}

/* Between 0 and 1. */
static bool add_weight(th_arena *arena, const wave *w, uint32_t weight, th_weight_track *out)
{
    float *values = th_arena_new(arena, float, w->keys);
    const double lag = th_random_unit(w->seed, TH_SYNTHETIC_MAX_JOINTS + 1 + weight);
    *out = (th_weight_track){weight, {.key_count = w->keys, .times = w->times, .values = values}};
    for (uint32_t k = 0; values && k < w->keys; k++)
        values[k] = (float)(0.5 + 0.5 * sway(w, time_of(w, k), lag));
    return values;
}

/* Selects exactly the requested number of joints, evenly spaced. */
static bool moves(const th_synthetic_desc *desc, uint32_t joint)
{
    const uint32_t moving = (desc->joints * desc->moving + 50) / 100;
    return (joint + 1) * moving / desc->joints > joint * moving / desc->joints;
}

static wave wave_of(const th_synthetic_desc *desc, uint32_t clip, const double *times)
{
    const double seconds = (double)(desc->keys - 1) / desc->rate, depth = th_synthetic_depth(desc);
    wave w = {.seed = th_random_bits(th_random_bits(desc->seed, STREAM_CLIPS), clip),
              .keys = desc->keys,
              .swing = fmin(FULL_SWING / depth, MOST_SWING),
              .stretch = desc->moving_scale ? MOST_SCALE / sqrt(depth) : 0,
              .depth = depth,
              .times = times};
    const double hertz = SLOWEST_HZ + (FASTEST_HZ - SLOWEST_HZ) * th_random_unit(w.seed, desc->joints);
    w.cycles = fmax(fmin(floor(hertz * seconds + 0.5), floor((desc->keys - 1.0) / CYCLE_KEYS)), 1);
    return w;
}

static bool add_clip(th_arena *arena, const th_synthetic_bone *bones, const th_synthetic_desc *desc, const wave *w,
                     uint32_t index, th_clip *out)
{
    th_channel *channels = th_arena_new(arena, th_channel, desc->joints);
    th_weight_track *weights = th_arena_new(arena, th_weight_track, desc->weights);
    *out = (th_clip){.name = th_arena_format(arena, "clip_%u", index),
                     .duration_ticks = desc->keys - 1,
                     .ticks_per_second = desc->rate,
                     .channels = channels,
                     .weight_tracks = weights,
                     .weight_track_count = desc->weights};
    bool built = channels && weights && out->name;
    for (uint32_t j = 0; built && j < desc->joints; j++)
        if (moves(desc, j))
            built = add_channel(arena, w, &bones[j], j, &channels[out->channel_count++]);
    for (uint32_t i = 0; built && i < desc->weights; i++)
        built = add_weight(arena, w, i, &weights[i]);
    return built;
}

bool th_synthetic_add_clips(th_model *model, const th_synthetic_bone *bones, const th_synthetic_desc *desc)
{
    assert(model && bones && desc && model->joint_count == desc->joints && !model->clips);
    th_clip *clips = th_arena_new(model->arena, th_clip, desc->clips);
    double *times = th_arena_new(model->arena, double, desc->keys); /* one tick apart, shared by all tracks */
    bool built = clips && times;
    for (uint32_t k = 0; built && k < desc->keys; k++)
        times[k] = k;
    for (uint32_t c = 0; built && c < desc->clips; c++) {
        const wave w = wave_of(desc, c, times);
        built = add_clip(model->arena, bones, desc, &w, c, &clips[c]);
    }
    model->clips = clips;
    model->clip_count = desc->clips;
    return built;
}
