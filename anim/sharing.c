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
    uint32_t *first_key;  /* [model], then the number of keys */
    uint32_t *first_clip; /* [model] in `clips`, then their number */
    clip_steps *clips;    /* of each model, of each rate: the model's clips, then its rest pose */
};

static uint32_t poses_of(const crowd_group *group)
{
    return group->compiled->model->clip_count + 1;
}

static double steps_of(const th_compiled_clip *compiled_clip, double hz)
{
    const th_clip *clip = compiled_clip->clip;
    const double duration_s = clip ? clip->duration_ticks / clip->ticks_per_second : 0;
    return fmax(1, round(duration_s * hz));
}

/* Numbers the steps of a model from *key on. */
static th_result count_steps(const crowd_group *group, const th_sharing_rates *rates, clip_steps *out, uint32_t *key,
                             th_error *err)
{
    for (uint32_t r = 0; r < rates->count; r++)
        for (uint32_t c = 0; c < poses_of(group); c++) {
            const double steps = steps_of(&group->compiled->compiled_clips[c], rates->hz[r]);
            if (*key + steps > TH_SHARING_MAX_KEYS - WORD)
                return th_fail(err, TH_ERR_LIMIT,
                               "the clips have more than %u steps of 1/%g s; share at fewer steps per second",
                               TH_SHARING_MAX_KEYS, rates->hz[r]);
            *out++ = (clip_steps){*key, (uint32_t)steps};
            *key += (uint32_t)steps;
        }
    return TH_OK;
}

static th_result count_keys(th_sharing *sharing, const th_sharing_rates *rates, th_error *err)
{
    const th_crowd *crowd = sharing->crowd;
    uint32_t key = 0, clip = 0;
    th_result result = TH_OK;
    for (uint32_t g = 0; g < crowd->group_count && result == TH_OK; g++) {
        sharing->first_key[g] = key;
        sharing->first_clip[g] = clip;
        result = count_steps(&crowd->groups[g], rates, sharing->clips + clip, &key, err);
        key = (key + WORD - 1) / WORD * WORD;
        clip += rates->count * poses_of(&crowd->groups[g]);
    }
    sharing->first_key[crowd->group_count] = key;
    sharing->first_clip[crowd->group_count] = clip;
    return result;
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
        sharing->first_key = calloc((size_t)crowd->group_count + 1, sizeof *sharing->first_key);
        sharing->first_clip = calloc((size_t)crowd->group_count + 1, sizeof *sharing->first_clip);
        sharing->clips = calloc(clips + 1, sizeof *sharing->clips);
    }
    th_result result = sharing && sharing->first_key && sharing->first_clip && sharing->clips
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
    free(sharing->first_key);
    free(sharing->first_clip);
    free(sharing->clips);
    free(sharing);
}

uint32_t th_sharing_first_key(const th_sharing *sharing, uint32_t model)
{
    assert(sharing && model <= sharing->crowd->group_count);
    return sharing->first_key[model];
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
    assert(sharing && key < sharing->first_key[sharing->crowd->group_count]);
    uint32_t model = 0;
    while (key >= sharing->first_key[model + 1])
        model++;
    const clip_steps *first = sharing->clips + sharing->first_clip[model], *steps = first;
    while (key - steps->first_key >= steps->count)
        steps++;
    assert(steps < sharing->clips + sharing->first_clip[model + 1]); /* the key names a step */
    const double late = 0x1p-32;                                     /* as in playback.h */
    const uint32_t clip = (uint32_t)(steps - first) % poses_of(&sharing->crowd->groups[model]);
    return (th_shared_pose){model, clip, (key - steps->first_key + 0.5) / steps->count + late};
}
