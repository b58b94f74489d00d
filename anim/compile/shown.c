#include "shown.h"

#include <assert.h>
#include <math.h>

struct th_shown_joint {
    float translation[3], rotation[4], scale[3], largest[3]; /* at rest; largest: by axis, the furthest from 0 */
    th_channel at_rest; /* but of the largest scale; of a joint without keys: none */
    double share;       /* of the largest scale, at least, together with the joints above */
};

static const double BEGIN = 0;

void th_shown_init(th_shown *s, const th_compiled_model *compiled, th_arena *arena)
{
    assert(s && compiled);
    const th_model *model = compiled->model;
    *s = (th_shown){.model = model,
                    .joints = th_arena_new(arena, struct th_shown_joint, model->joint_count),
                    .channels = th_arena_new(arena, th_channel, model->joint_count)};
    if (th_arena_failed(arena))
        return;
    for (const th_compiled_track *t = compiled->tracks; t < compiled->tracks + compiled->track_count; t++) {
        struct th_shown_joint *joint = &s->joints[t->joint];
        for (int i = 0; i < 4; i++)
            joint->rotation[i] = (float)t->rest.rotation[i];
        for (int i = 0; i < 3; i++) {
            joint->translation[i] = (float)t->rest.translation[i];
            joint->scale[i] = joint->largest[i] = (float)t->rest.scale[i];
        }
        joint->at_rest = (th_channel){.joint = t->joint,
                                      .translation = {1, &BEGIN, joint->translation, NULL, false},
                                      .rotation = {1, &BEGIN, joint->rotation, NULL, false},
                                      .scale = {1, &BEGIN, joint->largest, NULL, false}};
    }
    for (const th_clip *clip = model->clips; clip < model->clips + model->clip_count; clip++)
        for (const th_channel *c = clip->channels; c < clip->channels + clip->channel_count; c++)
            for (uint32_t n = 0; n < 3 * c->scale.key_count; n++) {
                float *largest = &s->joints[c->joint].largest[n % 3];
                *largest = fabsf(c->scale.values[n]) > fabsf(*largest) ? c->scale.values[n] : *largest;
            }
}

/* The least part of its largest scale that a joint has at keys, or between them where the sign changes. */
static double share_of(const float *scales, uint32_t key_count, const float largest[3])
{
    double share = 1;
    for (uint32_t n = 0; n < 3 * key_count; n++)
        if (largest[n % 3] != 0)
            share = fmin(share, scales[n] * scales[n % 3] > 0 ? fabs((double)scales[n] / (double)largest[n % 3]) : 0);
    return share;
}

const th_clip *th_shown_clip(th_shown *s, const th_clip *clip)
{
    assert(s && s->channels);
    const th_channel *next = clip ? clip->channels : NULL, *end = clip ? next + clip->channel_count : NULL;
    uint32_t count = 0;
    bool hides = false;
    for (uint32_t j = 0; j < s->model->joint_count; j++) {
        struct th_shown_joint *joint = &s->joints[j];
        const th_channel *channel = next != end && next->joint == j ? next++ : NULL;
        const uint32_t parent = s->model->joints[j].parent;
        const double above = parent == TH_NO_INDEX ? 1 : s->joints[parent].share,
                     own = joint->at_rest.scale.key_count == 0 ? 1
                           : channel ? share_of(channel->scale.values, channel->scale.key_count, joint->largest)
                                     : share_of(joint->scale, 1, joint->largest);
        const bool is_hidden = above * own < 0.5;
        joint->share = is_hidden ? above : above * own;
        hides |= is_hidden;
        if (channel || is_hidden)
            s->channels[count++] = channel ? *channel : joint->at_rest;
        if (is_hidden) {
            s->channels[count - 1].scale = joint->at_rest.scale;
            s->channels[count - 1].filled |= TH_SCALE; /* rather than by curves */
        }
    }
    s->clip = clip ? *clip : (th_clip){.ticks_per_second = 1};
    s->clip.channels = s->channels;
    s->clip.channel_count = count;
    return hides ? &s->clip : NULL;
}
