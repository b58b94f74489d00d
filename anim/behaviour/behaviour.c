#include "mix.h"
#include "routine.h"

#include "compile/compiled_data.h"

#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SALT   0x6265686176u /* keeps the streams apart from the crowd's of the same seed */
#define STROLL 0.75          /* mean speed, in speeds of the slowest gait */
#define APART  0.01          /* what walkers of one pace keep between them, in sizes of the model */

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

/* ---- routines ---- */

struct th_routines {
    const th_compiled_model *compiled;
    const th_repertoire *repertoire; /* NULL: only fades */
    th_pace_space *space;            /* NULL: no blend, and the rest is valid */
    double speed, deviation;
    uint64_t bytes, max_bytes;
    bool is_full;                /* max_bytes have been reached */
    th_transition **transitions; /* [from][to] those that some routine uses */
    th_routine routines[];       /* [TH_ROUTINES], and none for a blend */
};

/* Counts what is about to be allocated. */
static bool has_room(th_routines *r, uint64_t bytes)
{
    r->bytes += bytes;
    r->is_full = r->max_bytes > 0 && r->bytes > r->max_bytes;
    return !r->is_full;
}

static const th_transition *find_transition(void *ctx, uint32_t from, uint32_t to)
{
    th_routines *r = ctx;
    const th_model *model = r->compiled->model;
    th_transition **at = &r->transitions[(size_t)from * model->clip_count + to];
    if (*at)
        return *at;
    *at = has_room(r, sizeof **at) ? malloc(sizeof **at) : NULL;
    if (*at && !r->repertoire) {
        th_transition_fade(model, from, to, *at);
    } else if (*at && !th_transition_walk(model, r->repertoire, r->compiled->interpolation, from, to, *at)) {
        free(*at);
        *at = NULL;
    }
    return *at;
}

/* Moves the routine over the ground so that it strays as far ahead as behind. */
static void centre(th_routines *r, th_routine *routine)
{
    const double ahead = (routine->most + routine->least) / 2;
    for (uint32_t p = 0; p < routine->count; p++) {
        routine->parts[p].begin_travel -= ahead;
        routine->parts[p].settled_travel -= ahead;
    }
    r->deviation = fmax(r->deviation, (routine->most - routine->least) / 2);
}

static bool make_routines(th_routines *r, uint64_t seed)
{
    for (uint32_t n = 0; n < TH_ROUTINES; n++) {
        const th_routine_plan plan = {.model = r->compiled->model,
                                      .repertoire = r->repertoire,
                                      .speed = r->speed,
                                      .seed = th_random_bits(seed ^ SALT, n),
                                      .transition = find_transition,
                                      .ctx = r};
        if (!th_routine_make(&plan, &r->routines[n]))
            return false;
        centre(r, &r->routines[n]);
    }
    return true;
}

static bool make_all(th_routines *r, uint64_t seed)
{
    const size_t places = (size_t)r->compiled->model->clip_count * r->compiled->model->clip_count + 1;
    if (r->repertoire && r->repertoire->gait_count > 0)
        r->speed = (r->repertoire->idle == TH_NO_INDEX ? 1 : STROLL) * r->repertoire->gaits[0].speed;
    r->transitions = has_room(r, places * sizeof *r->transitions) ? calloc(places, sizeof *r->transitions) : NULL;
    return r->transitions && make_routines(r, seed);
}

static bool make_blend(th_routines *r)
{
    const size_t bytes = th_pace_space_bytes(r->repertoire);
    r->space = has_room(r, bytes) ? malloc(bytes) : NULL;
    if (!r->space || !th_pace_space_make(r->compiled->model, r->repertoire, r->compiled->interpolation, r->space))
        return false;
    r->speed = r->space->count > 0 ? 1 : 0;
    r->deviation = r->speed * APART * r->compiled->model->size;
    return true;
}

/* NULL: out of memory, or of what is allowed. */
static th_routines *create(const th_routines_desc *desc, bool *out_full)
{
    const bool blends = desc->kind == TH_BEHAVIOUR_BLEND;
    const size_t bytes = sizeof(th_routines) + (blends ? 0 : TH_ROUTINES * sizeof(th_routine));
    th_routines *r = calloc(1, bytes);
    *out_full = false;
    if (!r)
        return NULL;
    r->compiled = desc->compiled;
    r->repertoire = desc->kind == TH_BEHAVIOUR_FADE ? NULL : desc->compiled->repertoire;
    r->max_bytes = desc->max_bytes;
    bool good = has_room(r, bytes) && (blends ? make_blend(r) : make_all(r, desc->seed));
    *out_full = r->is_full;
    if (good)
        return r;
    th_routines_destroy(r);
    return NULL;
}

/* Whether there is anything to choose from. */
static bool has_choice(const th_routines *r)
{
    return r->space ? r->compiled->model->clip_count > 1 : r->routines[0].count > 0;
}

th_result th_routines_create(const th_routines_desc *desc, th_routines **out, th_error *err)
{
    assert(desc && desc->compiled && out);
    assert(desc->kind > TH_BEHAVIOUR_NONE && desc->kind < TH_BEHAVIOUR_KIND_COUNT);
    assert(!th_behaviour_needs_repertoire(desc->kind) || desc->compiled->repertoire);
    const th_model *model = desc->compiled->model;
    bool is_full;
    *out = create(desc, &is_full);
    if (*out && !has_choice(*out)) {
        th_routines_destroy(*out);
        *out = NULL;
        return TH_OK;
    }
    if (*out)
        return TH_OK;
    if (is_full)
        return th_fail(err, TH_ERR_LIMIT, "the routines of %s take more than the %.1f MB that are left", model->name,
                       (double)desc->max_bytes / 1e6);
    return th_fail(err, TH_ERR_MEMORY, "no memory for the routines of %s", model->name);
}

void th_routines_destroy(th_routines *r)
{
    if (!r)
        return;
    const size_t clips = r->compiled->model->clip_count;
    for (size_t t = 0; r->transitions && t < clips * clips; t++)
        free(r->transitions[t]);
    free(r->transitions);
    free(r->space);
    free(r);
}

size_t th_routines_bytes(const th_routines *routines)
{
    assert(routines);
    return routines->bytes;
}

double th_routines_speed(const th_routines *routines)
{
    assert(routines);
    return routines->speed;
}

double th_routines_deviation(const th_routines *routines)
{
    assert(routines);
    return routines->deviation;
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

struct th_behaviour {
    uint32_t count, model_count;
    th_mix *mixes; /* [model] NULL: nobody blends */
    const th_routines **routines;
    follower followers[];
};

uint32_t th_behaviour_most_layers(th_behaviour_kind kind)
{
    enum { GESTURE = 3 };
    assert((unsigned)kind < TH_BEHAVIOUR_KIND_COUNT);
    return kind == TH_BEHAVIOUR_NONE ? 0 : kind == TH_BEHAVIOUR_BLEND ? TH_BEHAVIOUR_LAYERS : GESTURE;
}

static follower follower_of(const th_behaviour *b, const th_behaviour_desc *desc, uint32_t instance)
{
    const th_instance *from = &desc->instances[instance];
    const th_routines *routines = desc->routines[from->model];
    const uint64_t own = th_random_bits(desc->seed ^ SALT, instance);
    const uint32_t pick = (uint32_t)(th_random_unit(own, 0) * TH_ROUTINES);
    const double offset = th_random_unit(own, 1);
    if (!routines)
        return (follower){0};
    if (routines->space)
        return (follower){.routines = routines, .mix = &b->mixes[from->model], .offset = offset, .speed = from->speed};
    const th_routine *routine = &routines->routines[pick];
    return (follower){
        .routines = routines, .routine = routine, .offset = offset * routine->length_s, .speed = from->speed};
}

static uint32_t count_models(const th_behaviour_desc *desc)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < desc->instance_count; i++)
        count = desc->instances[i].model >= count ? desc->instances[i].model + 1 : count;
    return count;
}

th_result th_behaviour_create(const th_behaviour_desc *desc, th_behaviour **out, th_error *err)
{
    assert(desc && out && (desc->instance_count == 0 || (desc->routines && desc->instances)));
    th_behaviour *b = *out = malloc(sizeof *b + desc->instance_count * sizeof *b->followers);
    if (b) {
        b->count = desc->instance_count;
        b->model_count = count_models(desc);
        b->routines = calloc((size_t)b->model_count + 1, sizeof *b->routines);
        b->mixes = calloc((size_t)b->model_count + 1, sizeof *b->mixes);
    }
    if (!b || !b->routines || !b->mixes) {
        th_behaviour_destroy(b);
        *out = NULL;
        return th_fail(err, TH_ERR_MEMORY, "no memory for the behaviour of %u characters", desc->instance_count);
    }
    for (uint32_t m = 0; m < b->model_count; m++)
        b->routines[m] = desc->routines[m];
    for (uint32_t i = 0; i < desc->instance_count; i++)
        b->followers[i] = follower_of(b, desc, i);
    th_behaviour_set_blend(b, &desc->blend, 0);
    return TH_OK;
}

void th_behaviour_destroy(th_behaviour *behaviour)
{
    if (!behaviour)
        return;
    free(behaviour->mixes);
    free(behaviour->routines);
    free(behaviour);
}

size_t th_behaviour_bytes(const th_behaviour *behaviour)
{
    assert(behaviour);
    return sizeof *behaviour + behaviour->count * sizeof *behaviour->followers +
           (behaviour->model_count + 1) * (sizeof *behaviour->mixes + sizeof *behaviour->routines);
}

void th_behaviour_set_blend(th_behaviour *behaviour, const th_blend *blend, double time_s)
{
    assert(behaviour && blend && blend->pace >= 0 && blend->clip_count <= TH_BLEND_CLIPS);
    for (uint32_t m = 0; m < behaviour->model_count; m++) {
        const th_routines *r = behaviour->routines[m];
        if (r && r->space)
            th_mix_set(&behaviour->mixes[m], r->compiled->model, r->space, blend, time_s);
    }
}

_Static_assert(sizeof(th_mix) <= sizeof(th_blend_state), "a state has room for a mix");

void th_behaviour_save_blend(const th_behaviour *behaviour, uint32_t model, th_blend_state *out)
{
    assert(behaviour && out);
    *out = (th_blend_state){0};
    if (model < behaviour->model_count)
        memcpy(out, &behaviour->mixes[model], sizeof behaviour->mixes[model]);
}

void th_behaviour_restore_blend(th_behaviour *behaviour, uint32_t model, const th_blend_state *state)
{
    assert(behaviour && state);
    th_mix mix;
    memcpy(&mix, state, sizeof mix);
    const th_routines *r = model < behaviour->model_count ? behaviour->routines[model] : NULL;
    bool fits = r && r->space && mix.duration_s > 0 && mix.count <= TH_MAX_LAYERS;
    for (uint32_t k = 0; fits && k < mix.count; k++)
        fits = mix.clips[k].clip < r->compiled->model->clip_count;
    if (fits)
        behaviour->mixes[model] = mix;
}

uint32_t th_behaviour_layer_stride(const th_behaviour *behaviour)
{
    assert(behaviour);
    bool blends = false;
    for (uint32_t m = 0; m < behaviour->model_count; m++)
        blends |= behaviour->routines[m] && behaviour->routines[m]->space;
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
