#include <anim/sharing.h>

#include "crowd_data.h"

#include <math.h>

enum { WORD = 64 };

typedef struct clip_steps {
    uint32_t first_key, count;
} clip_steps;

struct th_sharing {
    th_arena *arena; /* holds all of this */
    const th_crowd *crowd;
    uint32_t rate_count;
    th_sharing_range *ranges; /* [model][rate] */
    uint32_t *first_clip;     /* [model] in `clips` */
    clip_steps *clips;        /* of each model, of each rate: the model's clips, then its rest pose */
};

static double duration_of(const th_compiled_clip *compiled_clip)
{
    const th_clip *clip = compiled_clip->clip;
    return clip ? clip->duration_ticks / clip->ticks_per_second : 0;
}

/* How much there is to share, and what to do about it. */
static th_result too_many(const th_crowd *crowd, const th_sharing_rates *rates, th_error *err)
{
    double clips_s = 0, hz = 0;
    for (uint32_t r = 0; r < rates->count; r++)
        hz += rates->hz[r];
    for (uint32_t m = 0; m < crowd->model_count; m++)
        for (uint32_t c = 0; c + 1 < clip_count(&crowd->models[m]); c++)
            clips_s += duration_of(&crowd->models[m].compiled->compiled_clips[c]);
    return th_fail(
        err, TH_ERR_LIMIT,
        "sharing poses takes %.0f s of clips (those of joint levels count again) in %g steps per second; the "
        "limit is %u steps. Use models with fewer or shorter clips, or do not share (--share 0, no "
        "--animation-budget)",
        clips_s, hz, TH_SHARING_MAX_KEYS);
}

th_result th_sharing_create(const th_crowd *crowd, const th_sharing_rates *rates, th_sharing **out, th_error *err)
{
    assert(crowd && rates && out && rates->count > 0 && rates->count <= TH_SHARING_MAX_RATES);
    size_t clips = 0;
    *out = NULL;
    for (uint32_t r = 0; r < rates->count; r++)
        assert(rates->hz[r] > 0 && rates->hz[r] <= TH_SHARING_MAX_HZ);
    for (uint32_t m = 0; m < crowd->model_count; m++)
        clips += (size_t)rates->count * clip_count(&crowd->models[m]);
    th_arena *arena = th_arena_create();
    const th_sharing made = {arena,
                             crowd,
                             rates->count,
                             th_arena_new(arena, th_sharing_range, (size_t)crowd->model_count * rates->count),
                             th_arena_new(arena, uint32_t, crowd->model_count),
                             th_arena_new(arena, clip_steps, clips)};
    th_sharing *sharing = th_arena_copy(arena, &made, 1, sizeof made);
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "no memory to share the poses of %zu clips", clips);
    }
    uint32_t key = 0;
    th_sharing_range *range = sharing->ranges;
    clip_steps *clip = sharing->clips;
    for (uint32_t m = 0; m < crowd->model_count; m++) {
        sharing->first_clip[m] = (uint32_t)(clip - sharing->clips);
        for (uint32_t r = 0; r < rates->count; r++) {
            range->first = key;
            for (uint32_t c = 0; c < clip_count(&crowd->models[m]); c++) {
                const th_compiled_clip *compiled_clip = &crowd->models[m].compiled->compiled_clips[c];
                const double steps = fmax(1, round(duration_of(compiled_clip) * rates->hz[r]));
                if (key + steps > TH_SHARING_MAX_KEYS - WORD) {
                    th_sharing_destroy(sharing);
                    return too_many(crowd, rates, err);
                }
                *clip++ = (clip_steps){key, (uint32_t)steps};
                key += (uint32_t)steps;
            }
            range++->end = key = (key + WORD - 1) / WORD * WORD;
        }
    }
    *out = sharing;
    return TH_OK;
}

void th_sharing_destroy(th_sharing *sharing)
{
    if (sharing)
        th_arena_destroy(sharing->arena);
}

th_sharing_range th_sharing_range_of(const th_sharing *sharing, uint32_t model, uint32_t rate)
{
    assert(sharing && model < sharing->crowd->model_count && rate < sharing->rate_count);
    return sharing->ranges[model * sharing->rate_count + rate];
}

uint32_t th_sharing_key_count(const th_sharing *sharing)
{
    assert(sharing);
    const uint32_t ranges = sharing->crowd->model_count * sharing->rate_count;
    return ranges > 0 ? sharing->ranges[ranges - 1].end : 0;
}

void th_sharing_keys(const th_sharing *sharing, uint32_t model, uint32_t rate, const uint32_t *instances,
                     uint32_t count, double time_s, uint32_t *out)
{
    assert(sharing && model < sharing->crowd->model_count && rate < sharing->rate_count);
    assert(count == 0 || (instances && out));
    const th_crowd *crowd = sharing->crowd;
    const clip_steps *clips =
        sharing->clips + sharing->first_clip[model] + (size_t)rate * clip_count(&crowd->models[model]);
    for (uint32_t k = 0; k < count; k++) {
        assert(instances[k] < crowd->capacity);
        const crowd_character *character = &crowd->characters[instances[k]];
        const crowd_model *own = &crowd->models[crowd->model_of[instances[k]]];
        const clip_steps *steps = &clips[character->compiled_clip - own->compiled->compiled_clips];
        const uint32_t step = (uint32_t)(th_playback_ratio(character->playback, time_s) * steps->count);
        out[k] = steps->first_key + (step < steps->count ? step : steps->count - 1);
    }
}

th_shared_pose th_sharing_pose(const th_sharing *sharing, uint32_t key)
{
    assert(sharing && key < th_sharing_key_count(sharing));
    uint32_t range = 0;
    while (key >= sharing->ranges[range].end)
        range++;
    const uint32_t model = range / sharing->rate_count, poses = clip_count(&sharing->crowd->models[model]);
    const clip_steps *steps = sharing->clips + sharing->first_clip[model] + (range % sharing->rate_count) * poses;
    uint32_t clip = 0;
    while (key - steps[clip].first_key >= steps[clip].count)
        clip++;
    assert(clip < poses);        /* the key names a step */
    const double late = 0x1p-32; /* as in playback.h */
    return (th_shared_pose){model, clip, (key - steps[clip].first_key + 0.5) / steps[clip].count + late};
}
