#include <throng/anim/sharing.h>

#include "crowd_data.h"

#include <math.h>
#include <stdlib.h>

enum { WORD = 64 };

typedef struct clip_steps {
    uint32_t first_key, count;
} clip_steps;

struct th_sharing {
    const th_crowd *crowd;
    uint32_t rate_count;
    th_sharing_range *ranges; /* [model][rate] */
    uint32_t *first_clip;     /* [model] in `clips` */
    clip_steps *clips;        /* of each model, of each rate: the model's clips, then its rest pose */
};

static uint32_t poses_of(const crowd_group *group)
{
    return group->compiled->model->clip_count + 1;
}

static double duration_of(const th_compiled_clip *compiled_clip)
{
    const th_clip *clip = compiled_clip->clip;
    return clip ? clip->duration_ticks / clip->ticks_per_second : 0;
}

static double steps_of(const th_compiled_clip *compiled_clip, double hz)
{
    return fmax(1, round(duration_of(compiled_clip) * hz));
}

/* Numbers the steps of a model at a rate from `first` on. False: there are too many. */
static bool count_steps(const crowd_group *group, double hz, uint32_t first, clip_steps *out, th_sharing_range *range)
{
    uint32_t key = first;
    for (uint32_t c = 0; c < poses_of(group); c++) {
        const double steps = steps_of(&group->compiled->compiled_clips[c], hz);
        if (key + steps > TH_SHARING_MAX_KEYS - WORD)
            return false;
        out[c] = (clip_steps){key, (uint32_t)steps};
        key += (uint32_t)steps;
    }
    *range = (th_sharing_range){first, (key + WORD - 1) / WORD * WORD};
    return true;
}

/* How much there is to share, and what to do about it. */
static th_result too_many(const th_sharing *sharing, const th_sharing_rates *rates, th_error *err)
{
    double clips_s = 0, hz = 0;
    for (uint32_t r = 0; r < rates->count; r++)
        hz += rates->hz[r];
    for (uint32_t g = 0; g < sharing->crowd->group_count; g++)
        for (uint32_t c = 0; c + 1 < poses_of(&sharing->crowd->groups[g]); c++)
            clips_s += duration_of(&sharing->crowd->groups[g].compiled->compiled_clips[c]);
    return th_fail(
        err, TH_ERR_LIMIT,
        "sharing poses takes %.0f s of clips (those of joint levels count again) in %g steps per second; the "
        "limit is %u steps. Use models with fewer or shorter clips, or do not share (--share 0, no "
        "--animation-budget)",
        clips_s, hz, TH_SHARING_MAX_KEYS);
}

static th_result count_keys(th_sharing *sharing, const th_sharing_rates *rates, th_error *err)
{
    const th_crowd *crowd = sharing->crowd;
    th_sharing_range range = {0}, *out = sharing->ranges;
    uint32_t clip = 0;
    for (uint32_t g = 0; g < crowd->group_count; g++) {
        sharing->first_clip[g] = clip;
        for (uint32_t r = 0; r < rates->count; r++) {
            if (!count_steps(&crowd->groups[g], rates->hz[r], range.end, sharing->clips + clip, &range))
                return too_many(sharing, rates, err);
            *out++ = range;
            clip += poses_of(&crowd->groups[g]);
        }
    }
    return TH_OK;
}

th_result th_sharing_create(const th_crowd *crowd, const th_sharing_rates *rates, th_sharing **out, th_error *err)
{
    assert(crowd && rates && out && rates->count > 0 && rates->count <= TH_SHARING_MAX_RATES);
    size_t clips = 0;
    *out = NULL;
    for (uint32_t r = 0; r < rates->count; r++)
        assert(rates->hz[r] > 0 && rates->hz[r] <= TH_SHARING_MAX_HZ);
    for (uint32_t g = 0; g < crowd->group_count; g++)
        clips += (size_t)rates->count * poses_of(&crowd->groups[g]);
    th_sharing *sharing = calloc(1, sizeof *sharing);
    if (sharing) {
        sharing->crowd = crowd;
        sharing->rate_count = rates->count;
        sharing->ranges = calloc((size_t)crowd->group_count * rates->count + 1, sizeof *sharing->ranges);
        sharing->first_clip = calloc((size_t)crowd->group_count + 1, sizeof *sharing->first_clip);
        sharing->clips = calloc(clips + 1, sizeof *sharing->clips);
    }
    th_result result = sharing && sharing->ranges && sharing->first_clip && sharing->clips
                           ? count_keys(sharing, rates, err)
                           : th_fail(err, TH_ERR_MEMORY, "no memory to share the poses of %zu clips", clips);
    if (result == TH_OK)
        *out = sharing;
    else
        th_sharing_destroy(sharing);
    return result;
}

void th_sharing_destroy(th_sharing *sharing)
{
    if (!sharing)
        return;
    free(sharing->ranges);
    free(sharing->first_clip);
    free(sharing->clips);
    free(sharing);
}

th_sharing_range th_sharing_range_of(const th_sharing *sharing, uint32_t model, uint32_t rate)
{
    assert(sharing && model < sharing->crowd->group_count && rate < sharing->rate_count);
    return sharing->ranges[model * sharing->rate_count + rate];
}

uint32_t th_sharing_key_count(const th_sharing *sharing)
{
    assert(sharing);
    const uint32_t ranges = sharing->crowd->group_count * sharing->rate_count;
    return ranges > 0 ? sharing->ranges[ranges - 1].end : 0;
}

void th_sharing_keys(const th_sharing *sharing, uint32_t model, uint32_t rate, const uint32_t *instances,
                     uint32_t count, double time_s, uint32_t *out)
{
    assert(sharing && model < sharing->crowd->group_count && rate < sharing->rate_count);
    assert(count == 0 || (instances && out));
    const th_crowd *crowd = sharing->crowd;
    const clip_steps *clips =
        sharing->clips + sharing->first_clip[model] + (size_t)rate * poses_of(&crowd->groups[model]);
    for (uint32_t k = 0; k < count; k++) {
        assert(instances[k] < crowd->instance_count);
        const crowd_member *member = &crowd->all[instances[k]];
        const crowd_group *own = &crowd->groups[crowd->group_of[instances[k]]];
        const clip_steps *steps = &clips[member->compiled_clip - own->compiled->compiled_clips];
        const uint32_t step = (uint32_t)(th_playback_ratio(member->playback, time_s) * steps->count);
        out[k] = steps->first_key + (step < steps->count ? step : steps->count - 1);
    }
}

th_shared_pose th_sharing_pose(const th_sharing *sharing, uint32_t key)
{
    assert(sharing && key < th_sharing_key_count(sharing));
    uint32_t range = 0;
    while (key >= sharing->ranges[range].end)
        range++;
    const uint32_t model = range / sharing->rate_count, poses = poses_of(&sharing->crowd->groups[model]);
    const clip_steps *steps = sharing->clips + sharing->first_clip[model] + (range % sharing->rate_count) * poses;
    uint32_t clip = 0;
    while (key - steps[clip].first_key >= steps[clip].count)
        clip++;
    assert(clip < poses);        /* the key names a step */
    const double late = 0x1p-32; /* as in playback.h */
    return (th_shared_pose){model, clip, (key - steps[clip].first_key + 0.5) / steps[clip].count + late};
}
