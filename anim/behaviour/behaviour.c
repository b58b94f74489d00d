#include "routine.h"

#include "compile/compiled_data.h"

#include <throng/core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define SALT   0x6265686176u /* keeps the streams apart from the crowd's of the same seed */
#define STROLL 0.75          /* mean speed, in speeds of the slowest gait */

const char *th_behaviour_name(th_behaviour_kind kind)
{
    static const char *const names[] = {"none", "fade", "graph"};
    _Static_assert(sizeof names / sizeof *names == TH_BEHAVIOUR_KIND_COUNT, "a name for each");
    assert((unsigned)kind < TH_BEHAVIOUR_KIND_COUNT);
    return names[kind];
}

const char *th_fade_curve_name(th_fade_curve curve)
{
    static const char *const names[] = {"smooth", "linear"};
    _Static_assert(sizeof names / sizeof *names == TH_FADE_CURVE_COUNT, "a name for each");
    assert((unsigned)curve < TH_FADE_CURVE_COUNT);
    return names[curve];
}

float th_fade_weight(th_fade_curve curve, double part)
{
    const double x = fmin(fmax(part, 0), 1);
    return (float)(curve == TH_FADE_LINEAR ? x : x * x * (3 - 2 * x));
}

/* ---- routines ---- */

struct th_routines {
    const th_compiled_model *compiled;
    const th_repertoire *repertoire; /* NULL: only fades */
    th_fade fade;
    double speed, deviation;
    uint64_t bytes, max_bytes;
    bool is_full;                /* max_bytes have been reached */
    th_transition **transitions; /* [from][to] those that some routine uses */
    th_routine routines[TH_ROUTINES];
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
        th_transition_fade(model, from, to, &r->fade, *at);
    } else if (*at && !th_transition_walk(model, r->repertoire, r->compiled->interpolation, from, to, &r->fade, *at)) {
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

th_result th_routines_create(const th_routines_desc *desc, th_routines **out, th_error *err)
{
    assert(desc && desc->compiled && out);
    assert(desc->kind == TH_BEHAVIOUR_FADE || (desc->kind == TH_BEHAVIOUR_GRAPH && desc->compiled->repertoire));
    assert(desc->fade.duration_s > 0 && (unsigned)desc->fade.curve < TH_FADE_CURVE_COUNT);
    const th_model *model = desc->compiled->model;
    th_routines *r = *out = calloc(1, sizeof *r);
    if (r) {
        r->compiled = desc->compiled;
        r->fade = desc->fade;
        r->repertoire = desc->kind == TH_BEHAVIOUR_GRAPH ? desc->compiled->repertoire : NULL;
        if (r->repertoire && r->repertoire->gait_count > 0)
            r->speed = (r->repertoire->idle == TH_NO_INDEX ? 1 : STROLL) * r->repertoire->gaits[0].speed;
        r->max_bytes = desc->max_bytes;
        const size_t places = (size_t)model->clip_count * model->clip_count + 1;
        if (has_room(r, sizeof *r + places * sizeof *r->transitions))
            r->transitions = calloc(places, sizeof *r->transitions);
    }
    const bool good = r && r->transitions && make_routines(r, desc->seed), is_full = r && r->is_full;
    if (good && r->routines[0].count > 0)
        return TH_OK;
    th_routines_destroy(r);
    *out = NULL;
    if (good)
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
    const th_routine *routine;
    double offset_s, speed; /* of the routine: at time 0, and per second */
} follower;

struct th_behaviour {
    uint32_t count;
    follower followers[];
};

static follower follower_of(const th_behaviour_desc *desc, uint32_t instance)
{
    const th_instance *from = &desc->instances[instance];
    const th_routines *routines = desc->routines[from->model];
    const uint64_t own = th_random_bits(desc->seed ^ SALT, instance);
    const uint32_t pick = (uint32_t)(th_random_unit(own, 0) * TH_ROUTINES);
    if (!routines)
        return (follower){0};
    const th_routine *routine = &routines->routines[pick];
    return (follower){routines, routine, th_random_unit(own, 1) * routine->length_s, from->speed};
}

th_result th_behaviour_create(const th_behaviour_desc *desc, th_behaviour **out, th_error *err)
{
    assert(desc && out && (desc->instance_count == 0 || (desc->routines && desc->instances)));
    *out = malloc(sizeof **out + desc->instance_count * sizeof *(*out)->followers);
    if (!*out)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the behaviour of %u characters", desc->instance_count);
    (*out)->count = desc->instance_count;
    for (uint32_t i = 0; i < desc->instance_count; i++)
        (*out)->followers[i] = follower_of(desc, i);
    return TH_OK;
}

void th_behaviour_destroy(th_behaviour *behaviour)
{
    free(behaviour);
}

size_t th_behaviour_bytes(const th_behaviour *behaviour)
{
    assert(behaviour);
    return sizeof *behaviour + behaviour->count * sizeof *behaviour->followers;
}

/* A moment of a follower: the part of its routine, the time in the routine, and how often it has been through. */
typedef struct moment {
    const th_routine_part *part;
    double time_s, begin_s, times;
} moment;

static moment moment_of(const follower *f, double time_s)
{
    const double at_s = f->offset_s + f->speed * time_s, times = floor(at_s / f->routine->length_s);
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
    const float weight = th_fade_weight(TH_FADE_SMOOTH, fmin(since_s, left_s) / TH_GESTURE_FADE_S);
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
    if (!f->routine)
        return 0;
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
    if (!f->routine)
        return 0;
    const moment m = moment_of(f, time_s);
    return m.times * f->routine->length + travel_at(&m);
}

double th_behaviour_strayed(const th_behaviour *behaviour, uint32_t instance, double time_s)
{
    assert(behaviour && instance < behaviour->count);
    const follower *f = &behaviour->followers[instance];
    if (!f->routine)
        return 0;
    const moment m = moment_of(f, time_s);
    return travel_at(&m) - m.time_s * f->routines->speed;
}
