#include "shown.h"

#include <assert.h>
#include <math.h>

struct th_shown_joint {
    th_channel at_rest; /* of a joint without keys: none */
    float rest[10];     /* its values */
    float largest[3];   /* scales of all clips and at rest: by axis, the furthest from 0 */
    double share;       /* of the largest scale, at least, together with the joints above */
};

static th_track constant(const float *value)
{
    static const double begin;
    return (th_track){1, &begin, value, NULL, false};
}

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
            joint->rest[3 + i] = (float)t->rest.rotation[i];
        for (int i = 0; i < 3; i++) {
            joint->rest[i] = (float)t->rest.translation[i];
            joint->rest[7 + i] = joint->largest[i] = (float)t->rest.scale[i];
        }
        joint->at_rest = (th_channel){.joint = t->joint,
                                      .translation = constant(joint->rest),
                                      .rotation = constant(joint->rest + 3),
                                      .scale = constant(joint->rest + 7)};
    }
    for (const th_clip *clip = model->clips; clip < model->clips + model->clip_count; clip++)
        for (const th_channel *c = clip->channels; c < clip->channels + clip->channel_count; c++)
            for (uint32_t n = 0; n < 3 * c->scale.key_count; n++) {
                float *largest = &s->joints[c->joint].largest[n % 3];
                *largest = fabsf(c->scale.values[n]) > fabsf(*largest) ? c->scale.values[n] : *largest;
            }
}

/* The least part of its largest scale that a joint has at keys, or between them where the sign changes. */
static double share_of(const th_track *scale, const float largest[3])
{
    const float *v = scale->values;
    double share = 1;
    for (uint32_t n = 0; n < 3 * scale->key_count; n++)
        if (largest[n % 3] != 0)
            share = fmin(share, v[n] * v[n % 3] > 0 ? fabs((double)v[n] / (double)largest[n % 3]) : 0);
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
        const th_channel *keyed = next != end && next->joint == j ? next++ : NULL,
                         *channel = keyed ? keyed : &joint->at_rest;
        const uint32_t parent = s->model->joints[j].parent;
        const double above = parent == TH_NO_INDEX ? 1 : s->joints[parent].share,
                     share = above * share_of(&channel->scale, joint->largest);
        const bool is_hidden = share < 0.5;
        joint->share = is_hidden ? above : share;
        hides |= is_hidden;
        if (keyed || is_hidden)
            s->channels[count++] = *channel;
        if (is_hidden) {
            s->channels[count - 1].scale = constant(joint->largest);
            s->channels[count - 1].filled |= TH_SCALE; /* rather than by curves */
        }
    }
    s->clip = clip ? *clip : (th_clip){.ticks_per_second = 1};
    s->clip.channels = s->channels;
    s->clip.channel_count = count;
    return hides ? &s->clip : NULL;
}
