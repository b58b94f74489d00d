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
    uint32_t *first_key;  /* [model], then the number of keys */
    uint32_t *first_clip; /* [model] in `clips`, then their number */
    clip_steps *clips;    /* each model's clips, then its rest pose */
};

static double steps_of(const th_compiled_clip *compiled_clip, double hz)
{
    const th_clip *clip = compiled_clip->clip;
    const double duration_s = clip ? clip->duration_ticks / clip->ticks_per_second : 0;
    return fmax(1, round(duration_s * hz));
}

static th_result count_steps(th_sharing *sharing, double hz, th_error *err)
{
    const th_crowd *crowd = sharing->crowd;
    uint32_t keys = 0, c = 0;
    for (uint32_t g = 0; g < crowd->group_count; g++) {
        sharing->first_key[g] = keys;
        sharing->first_clip[g] = c;
        for (uint32_t k = 0; k <= crowd->groups[g].compiled->model->clip_count; k++, c++) {
            const double steps = steps_of(&crowd->groups[g].compiled->compiled_clips[k], hz);
            if (keys + steps > TH_SHARING_MAX_KEYS - WORD)
                return th_fail(err, TH_ERR_LIMIT,
                               "the clips have more than %u steps of 1/%g s; share at fewer steps per second",
                               TH_SHARING_MAX_KEYS, hz);
            sharing->clips[c] = (clip_steps){keys, (uint32_t)steps};
            keys += (uint32_t)steps;
        }
        keys = (keys + WORD - 1) / WORD * WORD;
    }
    sharing->first_key[crowd->group_count] = keys;
    sharing->first_clip[crowd->group_count] = c;
    return TH_OK;
}

th_result th_sharing_create(const th_crowd *crowd, double hz, th_sharing **out, th_error *err)
{
    assert(crowd && out && hz > 0 && hz <= TH_SHARING_MAX_HZ);
    size_t clips = 0;
    *out = NULL;
    for (uint32_t g = 0; g < crowd->group_count; g++)
        clips += crowd->groups[g].compiled->model->clip_count + (size_t)1;
    th_sharing *sharing = calloc(1, sizeof *sharing);
    if (sharing) {
        sharing->crowd = crowd;
        sharing->first_key = calloc((size_t)crowd->group_count + 1, sizeof *sharing->first_key);
        sharing->first_clip = calloc((size_t)crowd->group_count + 1, sizeof *sharing->first_clip);
        sharing->clips = calloc(clips + 1, sizeof *sharing->clips);
    }
    th_result result = sharing && sharing->first_key && sharing->first_clip && sharing->clips
                           ? count_steps(sharing, hz, err)
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

void th_sharing_keys(const th_sharing *sharing, uint32_t model, const uint32_t *instances, uint32_t count,
                     double time_s, uint32_t *out)
{
    assert(sharing && model < sharing->crowd->group_count && (count == 0 || (instances && out)));
    const th_crowd *crowd = sharing->crowd;
    const clip_steps *clips = sharing->clips + sharing->first_clip[model];
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
    return (th_shared_pose){model, (uint32_t)(steps - first), (key - steps->first_key + 0.5) / steps->count + late};
}
