/* What characters play of their own accord: routines are drawn part by part, and the best of many is kept. */
#include "routine.h"

#include "compile/compiled_data.h"

#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STROLL       0.75 /* mean speed, in speeds of the slowest gait */
#define APART        0.01 /* what walkers of one pace keep between them, in sizes of the model */
#define LENGTH_S     40.0 /* a routine is at least as long as this, unless it has too many parts */
#define STAND_S      1.5  /* shortest and longest stay of clips that stand */
#define STANDS_S     5.0
#define MOST_LOOPS   10   /* of a gait, in addition to those that transitions take */
#define STRAYS_S     1.5  /* how far a routine may stray from its mean speed, in seconds of the slowest gait */
#define MOST_RANGE_S 6.5  /* the same for the distance between its extremes, where possible */
#define CANDIDATES   40   /* of which the best is taken */
#define ATTEMPTS     4000 /* to get them */
#define WALKS        0.75 /* share of the times that it walks after standing idle; otherwise it stands differently */
#define GESTURES     0.4  /* share of the parts that are long enough */

enum { MOST_PARTS = TH_ROUTINE_PARTS - 2 };

/* ---- memory ---- */

/* Counts what is about to be allocated. */
static bool has_room(th_routines *r, uint64_t bytes)
{
    r->bytes += bytes;
    r->is_full = r->max_bytes > 0 && r->bytes > r->max_bytes;
    return !r->is_full;
}

/* NULL: out of memory, or of what is allowed. */
static const th_transition *find_transition(th_routines *r, uint32_t from, uint32_t to)
{
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

/* ---- a draft ---- */

/* Drawing a routine part by part. */
typedef struct draft {
    th_routines *routines;
    const th_model *model;
    const th_repertoire *repertoire;
    th_routine *out;
    uint64_t seed, drawn;
    uint32_t first, state; /* the first clip, and the one that plays */
    double time_s;         /* at which it has settled */
    double ratio;          /* of the clip then */
    double travel;
} draft;

static double draw(draft *d)
{
    return th_random_unit(d->seed, d->drawn++);
}

static double strayed(const draft *d)
{
    return d->travel - d->routines->speed * d->time_s;
}

static double length_of(const draft *d, uint32_t clip)
{
    return th_clip_length_s(d->model, clip);
}

static double speed_of(const draft *d, uint32_t clip)
{
    return th_repertoire_speed(d->repertoire, clip);
}

static void add_gesture(draft *d, th_routine_part *part, double from_s, double to_s)
{
    const th_repertoire *r = d->repertoire;
    part->gesture = TH_NO_INDEX;
    if (!r || r->gesture_count == 0 || draw(d) > GESTURES)
        return;
    const uint32_t gesture = (uint32_t)(draw(d) * r->gesture_count);
    const double length_s = length_of(d, r->gestures[gesture].clip);
    if (length_s < 2 * TH_GESTURE_FADE_S || length_s > to_s - from_s)
        return;
    part->gesture = gesture;
    part->gesture_s = from_s + draw(d) * (to_s - from_s - length_s);
    part->gesture_end_s = part->gesture_s + length_s;
    part->gesture_rate = 1 / length_s;
}

/* The first part follows the last one, which is known only at the end. */
static void begin(draft *d, uint32_t clip)
{
    d->first = clip;
    memset(d->out, 0, sizeof *d->out);
    for (uint32_t p = 0; p < TH_ROUTINE_PARTS; p++)
        d->out->begin_s[p] = p == 0 ? 0 : HUGE_VAL;
    d->state = clip;
    d->time_s = d->travel = d->ratio = 0;
    d->out->count = 1;
    d->out->parts[0] = (th_routine_part){
        .rate = 1 / length_of(d, clip), .speed = speed_of(d, clip), .clip = clip, .gesture = TH_NO_INDEX};
}

/* Moves everything from the second part on in time. */
static void delay(draft *d, double by_s)
{
    th_routine *r = d->out;
    for (uint32_t p = 1; p < r->count; p++) {
        r->begin_s[p] += by_s;
        r->parts[p].settled_s += by_s;
        r->parts[p].gesture_s += by_s;
        r->parts[p].gesture_end_s += by_s;
    }
    d->time_s += by_s;
}

static uint32_t next_clip(draft *d)
{
    const th_repertoire *r = d->repertoire;
    if (!r) { /* any other; the first clip as soon as that is long enough */
        const uint32_t pick = (uint32_t)(draw(d) * (d->model->clip_count - 1));
        return d->time_s > LENGTH_S && d->state != d->first ? d->first : pick + (pick >= d->state);
    }
    for (uint32_t gait = 0; gait < r->gait_count; gait++) {
        if (r->gaits[gait].clip != d->state)
            continue;
        /* Faster if it is behind, slower otherwise. */
        const double behind_s = -strayed(d) / r->gaits[0].speed;
        const uint32_t faster = r->gait_count - 1 - gait;
        if (faster > 0 && behind_s > (0.2 + 0.5 * draw(d)) * STRAYS_S)
            return r->gaits[gait + 1 + (uint32_t)(draw(d) * faster)].clip;
        return gait > 0 ? r->gaits[0].clip : r->idle;
    }
    if (d->state != r->idle)
        return r->idle;
    if (r->gait_count > 0 && (r->stand_count == 0 || draw(d) < WALKS))
        return r->gaits[0].clip;
    return r->stand_count > 0 ? r->stands[(uint32_t)(draw(d) * r->stand_count)].clip : r->idle;
}

/* How long the clip that plays stays before the transition to the next. */
static double stay(draft *d, const th_transition *next)
{
    const th_repertoire *r = d->repertoire;
    const double length_s = length_of(d, d->state), mean = d->routines->speed;
    if (speed_of(d, d->state) > 0) {
        /* Whole loops, and as much of one as leads to where the transition begins. */
        const double gain = speed_of(d, d->state) - mean;
        const double room = STRAYS_S / 2 * r->gaits[0].speed - strayed(d);
        const double part = next->from_ratio - d->ratio, most = fmin(room / (gain * length_s), MOST_LOOPS);
        return (th_ratio_wrapped(part) + 1 + floor(draw(d) * fmax(most, 0))) * length_s;
    }
    for (uint32_t n = 0; r && n < r->stand_count; n++)
        if (r->stands[n].clip == d->state && !r->stands[n].loops)
            /* Until its end would be reached in the transition to the next. */
            return fmax((1 - d->ratio) * length_s - next->duration_s, 0);
    double most = STANDS_S;
    if (mean > 0) {
        const double room = STRAYS_S / 2 * r->gaits[0].speed + strayed(d);
        most = fmin(fmax(room / mean, STAND_S), STANDS_S);
    }
    const double stay_s = STAND_S + draw(d) * (most - STAND_S);
    if (isnan(next->from_ratio))
        return stay_s;
    return stay_s + th_ratio_wrapped(next->from_ratio - d->ratio - stay_s / length_s) * length_s;
}

/* How much longer the first clip has to stand so that the mean speed is as planned. */
static double missing_stand(const draft *d)
{
    return d->routines->speed > 0 ? strayed(d) / d->routines->speed : 0;
}

static bool is_complete(const draft *d)
{
    const th_routine *r = d->out;
    if (d->state != d->first || r->count < 3 || d->time_s < LENGTH_S)
        return false;
    const double stay_s = r->begin_s[1] - r->parts[0].settled_s + missing_stand(d);
    return d->routines->speed == 0 || (stay_s >= STAND_S && stay_s <= STANDS_S);
}

typedef enum attempt { GOOD, BAD, NO_MEMORY } attempt;

static attempt attempt_from(draft *d, uint32_t first)
{
    th_routine *r = d->out;
    begin(d, first);
    while (!is_complete(d)) {
        const th_transition *t = find_transition(d->routines, d->state, next_clip(d));
        if (!t)
            return NO_MEMORY;
        /* The clip that plays stays, and goes over to another. */
        const double end_s = d->time_s + stay(d, t);
        th_routine_part *now = &r->parts[r->count - 1];
        const double stayed_s = end_s - now->settled_s, ratio = now->ratio + stayed_s * now->rate;
        if (r->count > 1) /* the first part may become longer or shorter */
            add_gesture(d, now, now->settled_s, end_s);
        d->travel += stayed_s * now->speed;
        r->begin_s[r->count] = end_s;
        d->time_s = end_s + t->duration_s;
        d->state = t->to;
        d->ratio = t->to_ratios[TH_TRANSITION_STEPS];
        r->parts[r->count++] = (th_routine_part){
            .in = t,
            .from_ratio = isnan(t->from_ratio) ? th_ratio_wrapped(ratio) : 0,
            .settled_s = d->time_s,
            .ratio = d->ratio,
            .rate = 1 / length_of(d, t->to),
            .begin_travel = d->travel,
            .settled_travel = d->travel + t->travel[TH_TRANSITION_STEPS],
            .speed = speed_of(d, t->to),
            .clip = t->to,
            .gesture = TH_NO_INDEX,
        };
        d->travel += t->travel[TH_TRANSITION_STEPS];
        if (r->count == MOST_PARTS)
            return BAD;
    }
    delay(d, missing_stand(d));

    /* The last part added goes over to the first clip; it becomes the beginning of the first part. What follows moves
     * over the ground with it. */
    const th_routine_part last = r->parts[r->count - 1];
    const double begin_s = r->begin_s[r->count - 1], in_s = last.in->duration_s, in = d->travel - last.begin_travel;
    assert(last.clip == r->parts[0].clip);
    r->begin_s[--r->count] = HUGE_VAL;
    delay(d, in_s);
    for (uint32_t p = 1; p < r->count; p++) {
        r->parts[p].begin_travel += in;
        r->parts[p].settled_travel += in;
    }
    r->parts[0].in = last.in;
    r->parts[0].from_ratio = last.from_ratio;
    r->parts[0].settled_s += in_s;
    r->parts[0].settled_travel = in;
    r->parts[0].ratio = last.ratio;
    const double ratio = last.ratio + (r->begin_s[1] - r->parts[0].settled_s) * last.rate;
    r->parts[1].from_ratio = th_ratio_wrapped(ratio); /* the first clip stands, so it may be left anywhere */
    add_gesture(d, &r->parts[0], r->parts[0].settled_s, r->begin_s[1]);
    r->length_s = begin_s + in_s;
    r->length = d->travel;

    for (uint32_t p = 0; p < r->count; p++) {
        const th_routine_part *part = &r->parts[p];
        for (uint32_t k = 0; k <= TH_TRANSITION_STEPS; k++) {
            const double since = part->in->duration_s * k / TH_TRANSITION_STEPS,
                         off = part->begin_travel + part->in->travel[k] - d->routines->speed * (r->begin_s[p] + since);
            r->least = fmin(r->least, off);
            r->most = fmax(r->most, off);
        }
    }
    return GOOD;
}

/* ---- a routine ---- */

/* One clip for ever. */
static void repeat(draft *d, uint32_t clip)
{
    begin(d, clip);
    d->out->length_s = length_of(d, clip);
    d->out->length = d->out->length_s * d->out->parts[0].speed;
}

/* Many different clips, for as little straying as possible. speed: of the slowest gait, or 0. */
static double worth_of(const th_routine *r, double speed)
{
    const double range = fmax(r->most - r->least, 1e-3);
    uint32_t different = 0;
    for (uint32_t p = 0; p < r->count; p++) {
        uint32_t before = 0;
        while (before < p && r->parts[before].clip != r->parts[p].clip)
            before++;
        different += before == p;
    }
    return range > MOST_RANGE_S * speed && speed > 0 ? -range : pow(different, 1.5) / range;
}

/* false: out of memory, or of what is allowed. */
static bool make_routine(th_routines *routines, uint64_t seed, th_routine *out)
{
    const th_repertoire *r = routines->repertoire;
    const uint32_t clips = routines->compiled->model->clip_count;
    draft d = {.routines = routines, .model = routines->compiled->model, .repertoire = r};
    uint32_t made = 0;
    double best = 0;
    /* Is there something to choose from? */
    const bool chooses =
        r ? r->gait_count + r->stand_count + r->gesture_count > 0 && r->idle != TH_NO_INDEX : clips > 1;
    for (uint64_t n = 0; chooses && n < ATTEMPTS && made < CANDIDATES; n++) {
        th_routine candidate;
        d.out = &candidate;
        d.seed = th_random_bits(seed, n);
        d.drawn = 0;
        const attempt result = attempt_from(&d, r ? r->idle : (uint32_t)(draw(&d) * clips));
        if (result == NO_MEMORY)
            return false;
        if (result == BAD)
            continue;
        const double worth = worth_of(&candidate, r && r->gait_count > 0 ? r->gaits[0].speed : 0);
        if (made++ == 0 || worth > best) {
            best = worth;
            *out = candidate;
        }
    }
    d.out = out;
    if (made == 0 && r && r->gait_count > 0)
        repeat(&d, r->gaits[0].clip);
    else if (made == 0 && r && r->idle != TH_NO_INDEX)
        repeat(&d, r->idle);
    else if (made == 0)
        memset(out, 0, sizeof *out);
    return true;
}

/* ---- all of a model ---- */

static bool make_routines(th_routines *r, uint64_t seed)
{
    const size_t places = (size_t)r->compiled->model->clip_count * r->compiled->model->clip_count + 1;
    if (r->repertoire && r->repertoire->gait_count > 0)
        r->speed = (r->repertoire->idle == TH_NO_INDEX ? 1 : STROLL) * r->repertoire->gaits[0].speed;
    r->transitions = has_room(r, places * sizeof *r->transitions) ? calloc(places, sizeof *r->transitions) : NULL;
    for (uint32_t n = 0; r->transitions && n < TH_ROUTINES; n++) {
        th_routine *routine = &r->routines[n];
        if (!make_routine(r, th_random_bits(seed ^ TH_BEHAVIOUR_SALT, n), routine))
            return false;
        /* Moves it over the ground so that it strays as far ahead as behind. */
        const double ahead = (routine->most + routine->least) / 2;
        for (uint32_t p = 0; p < routine->count; p++) {
            routine->parts[p].begin_travel -= ahead;
            routine->parts[p].settled_travel -= ahead;
        }
        r->deviation = fmax(r->deviation, (routine->most - routine->least) / 2);
    }
    return r->transitions != NULL;
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

th_result th_routines_create(const th_routines_desc *desc, th_routines **out, th_error *err)
{
    assert(desc && desc->compiled && out);
    assert(desc->kind > TH_BEHAVIOUR_NONE && desc->kind < TH_BEHAVIOUR_KIND_COUNT);
    assert(!th_behaviour_needs_repertoire(desc->kind) || desc->compiled->repertoire);
    const th_model *model = desc->compiled->model;
    const bool blends = desc->kind == TH_BEHAVIOUR_BLEND;
    const size_t bytes = sizeof(th_routines) + (blends ? 0 : TH_ROUTINES * sizeof(th_routine));
    th_routines *r = calloc(1, bytes);
    bool good = r != NULL, is_full = false;
    if (r) {
        r->compiled = desc->compiled;
        r->repertoire = desc->kind == TH_BEHAVIOUR_FADE ? NULL : desc->compiled->repertoire;
        r->max_bytes = desc->max_bytes;
        good = has_room(r, bytes) && (blends ? make_blend(r) : make_routines(r, desc->seed));
        is_full = r->is_full;
    }
    const bool has_choice = good && (blends ? model->clip_count > 1 : r->routines[0].count > 0);
    *out = has_choice ? r : NULL;
    if (!has_choice)
        th_routines_destroy(r);
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
    free(r->space);
    free(r);
}

th_routines_extent th_routines_get_extent(const th_routines *routines)
{
    assert(routines);
    return (th_routines_extent){routines->bytes, routines->speed, routines->deviation};
}
