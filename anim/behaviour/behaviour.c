#include "mix.h"
#include "routine.h"

#include "compile/compiled_data.h"

#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *th_behaviour_name(th_behaviour_kind kind)
{
    static const char *const names[] = {"none", "fade", "graph", "blend"};
    _Static_assert(sizeof names / sizeof *names == TH_BEHAVIOUR_KIND_COUNT, "a name for each");
    assert((unsigned)kind < TH_BEHAVIOUR_KIND_COUNT);
    return names[kind];
}

float th_fade_weight(double part)
{
    const double x = fmin(fmax(part, 0), 1);
    return (float)(x * x * (3 - 2 * x));
}

/* ---- instances ---- */

typedef struct follower {
    const th_routines *routines; /* NULL: plays its own clip */
    union {
        const th_routine *routine;
        const th_mix *mix; /* of a blend */
    };
    double offset, speed; /* of the routine, in seconds: at time 0, and per second; of a blend, in loops */
} follower;

typedef struct crowd_model {
    th_mix mix; /* of a blend */
    const th_routines *routines;
} crowd_model;

struct th_behaviour {
    uint32_t count, model_count;
    crowd_model *models;
    follower followers[];
};

uint32_t th_behaviour_most_layers(th_behaviour_kind kind)
{
    enum { GESTURE = 3 };
    assert((unsigned)kind < TH_BEHAVIOUR_KIND_COUNT);
    return kind == TH_BEHAVIOUR_NONE ? 0 : kind == TH_BEHAVIOUR_BLEND ? TH_BEHAVIOUR_LAYERS : GESTURE;
}

th_result th_behaviour_create(const th_behaviour_desc *desc, th_behaviour **out, th_error *err)
{
    assert(desc && out && (desc->instance_count == 0 || (desc->routines && desc->instances)));
    th_behaviour *b = *out = calloc(1, sizeof *b + desc->instance_count * sizeof *b->followers);
    for (uint32_t i = 0; b && i < desc->instance_count; i++)
        b->model_count = desc->instances[i].model >= b->model_count ? desc->instances[i].model + 1 : b->model_count;
    if (b)
        b->models = calloc((size_t)b->model_count + 1, sizeof *b->models);
    if (!b || !b->models) {
        free(b);
        *out = NULL;
        return th_fail(err, TH_ERR_MEMORY, "no memory for the behaviour of %u characters", desc->instance_count);
    }
    b->count = desc->instance_count;
    for (uint32_t m = 0; m < b->model_count; m++)
        b->models[m].routines = desc->routines[m];
    for (uint32_t i = 0; i < b->count; i++) {
        const th_spawn *from = &desc->instances[i];
        const th_routines *routines = desc->routines[from->model];
        const uint64_t own = th_random_bits(desc->seed ^ TH_BEHAVIOUR_SALT, i);
        follower *f = &b->followers[i];
        if (!routines)
            continue;
        *f = (follower){.routines = routines, .offset = th_random_unit(own, 1), .speed = from->speed};
        if (routines->space) {
            f->mix = &b->models[from->model].mix;
        } else {
            f->routine = &routines->routines[(uint32_t)(th_random_unit(own, 0) * TH_ROUTINES)];
            f->offset *= f->routine->length_s;
        }
    }
    th_behaviour_set_blend(b, &desc->blend, 0);
    return TH_OK;
}

void th_behaviour_destroy(th_behaviour *behaviour)
{
    if (!behaviour)
        return;
    free(behaviour->models);
    free(behaviour);
}

size_t th_behaviour_bytes(const th_behaviour *behaviour)
{
    assert(behaviour);
    return sizeof *behaviour + behaviour->count * sizeof *behaviour->followers +
           (behaviour->model_count + 1) * sizeof *behaviour->models;
}

void th_behaviour_set_blend(th_behaviour *behaviour, const th_blend *blend, double time_s)
{
    assert(behaviour && blend && blend->pace >= 0 && blend->clip_count <= TH_BLEND_CLIPS);
    for (uint32_t m = 0; m < behaviour->model_count; m++) {
        const th_routines *r = behaviour->models[m].routines;
        if (r && r->space)
            th_mix_set(&behaviour->models[m].mix, r->compiled->model, r->space, blend, time_s);
    }
}

_Static_assert(sizeof(th_mix) <= sizeof(th_blend_state), "a state has room for a mix");

void th_behaviour_save_blend(const th_behaviour *behaviour, uint32_t model, th_blend_state *out)
{
    assert(behaviour && out);
    *out = (th_blend_state){0};
    if (model < behaviour->model_count)
        memcpy(out, &behaviour->models[model].mix, sizeof behaviour->models[model].mix);
}

void th_behaviour_restore_blend(th_behaviour *behaviour, uint32_t model, const th_blend_state *state)
{
    assert(behaviour && state);
    th_mix mix;
    memcpy(&mix, state, sizeof mix);
    const th_routines *r = model < behaviour->model_count ? behaviour->models[model].routines : NULL;
    bool fits = r && r->space && mix.duration_s > 0 && mix.count <= TH_MAX_LAYERS;
    for (uint32_t k = 0; fits && k < mix.count; k++)
        fits = mix.clips[k].clip < r->compiled->model->clip_count;
    if (fits)
        behaviour->models[model].mix = mix;
}

uint32_t th_behaviour_layer_stride(const th_behaviour *behaviour)
{
    assert(behaviour);
    bool blends = false;
    for (uint32_t m = 0; m < behaviour->model_count; m++)
        blends |= behaviour->models[m].routines && behaviour->models[m].routines->space;
    return th_behaviour_most_layers(blends ? TH_BEHAVIOUR_BLEND : TH_BEHAVIOUR_GRAPH);
}

/* A moment of a follower: the part of its routine, the time in the routine, and how often it has been through. */
typedef struct moment {
    const th_routine_part *part;
    double time_s, begin_s, times;
} moment;

static moment moment_of(const follower *f, double time_s)
{
    const double at_s = f->offset + f->speed * time_s, times = floor(at_s / f->routine->length_s);
    const double in_s = fmin(fmax(at_s - times * f->routine->length_s, 0), f->routine->length_s);
    const uint32_t part = th_routine_part_at(f->routine, in_s);
    return (moment){&f->routine->parts[part], in_s, f->routine->begin_s[part], times};
}

static th_layer layer_of(uint32_t clip, double ratio, float weight, uint8_t mask)
{
    return (th_layer){.ratio = th_ratio_wrapped(ratio), .weight = weight, .clip = (uint16_t)clip, .mask = mask};
}

/* Where the gesture has its full weight, the clip plays in the other joints only. While it fades, the clip plays twice,
 * so that the other joints keep a weight of 1. */
static uint32_t add_gesture(const follower *f, const moment *m, th_layer out[TH_BEHAVIOUR_LAYERS])
{
    const th_routine_part *part = m->part;
    const th_gesture *gesture = &f->routines->repertoire->gestures[part->gesture];
    const double since_s = m->time_s - part->gesture_s, left_s = part->gesture_end_s - m->time_s;
    const float weight = th_fade_weight(fmin(since_s, left_s) / TH_GESTURE_FADE_S);
    uint32_t count = 0;
    const th_layer clip = out[0];
    if (weight < 1) {
        out[count] = clip;
        out[count++].weight = 1 - weight;
    }
    out[count] = clip;
    out[count].weight = weight;
    out[count++].mask = (uint8_t)gesture->others;
    out[count++] = layer_of(gesture->clip, since_s * part->gesture_rate, weight, (uint8_t)gesture->moved);
    return count;
}

uint32_t th_behaviour_layers(const th_behaviour *behaviour, uint32_t instance, double time_s,
                             th_layer out[TH_BEHAVIOUR_LAYERS])
{
    assert(behaviour && instance < behaviour->count && out);
    const follower *f = &behaviour->followers[instance];
    if (!f->routines)
        return 0;
    if (f->routines->space)
        return th_mix_layers(f->mix, f->speed, f->offset, time_s, out);
    const moment m = moment_of(f, time_s);
    if (m.time_s < m.part->settled_s) {
        const th_transition_moment t = th_transition_at(m.part->in, m.time_s - m.begin_s);
        out[0] = layer_of(m.part->in->from, m.part->from_ratio + t.from_ratio, 1 - t.to_weight, TH_NO_MASK);
        out[1] = layer_of(m.part->in->to, t.to_ratio, t.to_weight, TH_NO_MASK);
        return 2;
    }
    out[0] = layer_of(m.part->clip, m.part->ratio + (m.time_s - m.part->settled_s) * m.part->rate, 1, TH_NO_MASK);
    const bool gestures =
        m.part->gesture != TH_NO_INDEX && m.time_s > m.part->gesture_s && m.time_s < m.part->gesture_end_s;
    return gestures ? add_gesture(f, &m, out) : 1;
}

/* Since the routine began. */
static double travel_at(const moment *m)
{
    if (m->time_s < m->part->settled_s)
        return m->part->begin_travel + th_transition_at(m->part->in, m->time_s - m->begin_s).travel;
    return m->part->settled_travel + (m->time_s - m->part->settled_s) * m->part->speed;
}

double th_behaviour_travel(const th_behaviour *behaviour, uint32_t instance, double time_s)
{
    assert(behaviour && instance < behaviour->count);
    const follower *f = &behaviour->followers[instance];
    if (!f->routines)
        return 0;
    if (f->routines->space)
        return f->speed * th_mix_walked(f->mix, time_s);
    const moment m = moment_of(f, time_s);
    return m.times * f->routine->length + travel_at(&m);
}

double th_behaviour_walk_time(const th_behaviour *behaviour, uint32_t instance, double time_s)
{
    assert(behaviour && instance < behaviour->count);
    const follower *f = &behaviour->followers[instance];
    return f->routines && f->routines->space ? th_mix_walked(f->mix, time_s) : time_s;
}

double th_behaviour_strayed(const th_behaviour *behaviour, uint32_t instance, double time_s)
{
    assert(behaviour && instance < behaviour->count);
    const follower *f = &behaviour->followers[instance];
    if (!f->routines || f->routines->space)
        return 0;
    const moment m = moment_of(f, time_s);
    return travel_at(&m) - m.time_s * f->routines->speed;
}
