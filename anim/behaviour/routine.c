#include "routine.h"

#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <string.h>

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

/* Drawing a routine part by part. */
typedef struct draft {
    const th_routine_plan *plan;
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
    return d->travel - d->plan->speed * d->time_s;
}

/* ---- parts ---- */

static void add_gesture(draft *d, th_routine_part *part, double from_s, double to_s)
{
    const th_repertoire *r = d->plan->repertoire;
    part->gesture = TH_NO_INDEX;
    if (!r || r->gesture_count == 0 || draw(d) > GESTURES)
        return;
    const uint32_t gesture = (uint32_t)(draw(d) * r->gesture_count);
    const double length_s = th_clip_length_s(d->plan->model, r->gestures[gesture].clip);
    if (length_s < 2 * TH_GESTURE_FADE_S || length_s > to_s - from_s)
        return;
    part->gesture = gesture;
    part->gesture_s = from_s + draw(d) * (to_s - from_s - length_s);
    part->gesture_end_s = part->gesture_s + length_s;
    part->gesture_rate = 1 / length_s;
}

/* Lets the clip that plays stay until end_s, and goes over to another. */
static void add_part(draft *d, double end_s, const th_transition *t)
{
    th_routine *r = d->out;
    th_routine_part *now = &r->parts[r->count - 1];
    const double stayed_s = end_s - now->settled_s, walked = stayed_s * now->speed;
    const double ratio = now->ratio + stayed_s * now->rate;
    if (r->count > 1) /* the first part may become longer or shorter */
        add_gesture(d, now, now->settled_s, end_s);
    d->travel += walked;
    r->begin_s[r->count] = end_s;
    d->time_s = end_s + t->duration_s;
    d->state = t->to;
    d->ratio = t->to_ratios[TH_TRANSITION_STEPS];
    r->parts[r->count++] = (th_routine_part){
        .in = t,
        .from_ratio = isnan(t->from_ratio) ? th_ratio_wrapped(ratio) : 0,
        .settled_s = d->time_s,
        .ratio = d->ratio,
        .rate = 1 / th_clip_length_s(d->plan->model, t->to),
        .begin_travel = d->travel,
        .settled_travel = d->travel + t->travel[TH_TRANSITION_STEPS],
        .speed = th_repertoire_speed(d->plan->repertoire, t->to),
        .clip = t->to,
        .gesture = TH_NO_INDEX,
    };
    d->travel += t->travel[TH_TRANSITION_STEPS];
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
    d->out->parts[0] = (th_routine_part){.rate = 1 / th_clip_length_s(d->plan->model, clip),
                                         .speed = th_repertoire_speed(d->plan->repertoire, clip),
                                         .clip = clip,
                                         .gesture = TH_NO_INDEX};
}

/* Moves everything from the second part on in time, and what follows the first part over the ground with it. */
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

/* The last part added goes over to the first clip; it becomes the beginning of the first part. */
static void close(draft *d)
{
    th_routine *r = d->out;
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
}

static void measure_straying(const th_routine_plan *plan, th_routine *r)
{
    for (uint32_t p = 0; p < r->count; p++) {
        const th_routine_part *part = &r->parts[p];
        for (uint32_t k = 0; k <= TH_TRANSITION_STEPS; k++) {
            const double since = part->in->duration_s * k / TH_TRANSITION_STEPS,
                         off = part->begin_travel + part->in->travel[k] - plan->speed * (r->begin_s[p] + since);
            r->least = fmin(r->least, off);
            r->most = fmax(r->most, off);
        }
    }
}

/* ---- which clip is next ---- */

/* The first clip as soon as that is long enough. */
static uint32_t random_clip(draft *d)
{
    const uint32_t count = d->plan->model->clip_count, pick = (uint32_t)(draw(d) * (count - 1));
    if (d->time_s > LENGTH_S && d->state != d->first)
        return d->first;
    return pick + (pick >= d->state);
}

/* Position among the gaits; their count if it is none. */
static uint32_t gait_index(const th_repertoire *r, uint32_t clip)
{
    uint32_t g = 0;
    while (g < r->gait_count && r->gaits[g].clip != clip)
        g++;
    return g;
}

static uint32_t after_idle(draft *d)
{
    const th_repertoire *r = d->plan->repertoire;
    if (r->gait_count > 0 && (r->stand_count == 0 || draw(d) < WALKS))
        return r->gaits[0].clip;
    return r->stand_count > 0 ? r->stands[(uint32_t)(draw(d) * r->stand_count)].clip : r->idle;
}

/* Faster if it is behind, slower otherwise. */
static uint32_t after_gait(draft *d, uint32_t gait)
{
    const th_repertoire *r = d->plan->repertoire;
    const double behind_s = -strayed(d) / r->gaits[0].speed;
    const uint32_t faster = r->gait_count - 1 - gait;
    if (faster > 0 && behind_s > (0.2 + 0.5 * draw(d)) * STRAYS_S)
        return r->gaits[gait + 1 + (uint32_t)(draw(d) * faster)].clip;
    return gait > 0 ? r->gaits[0].clip : r->idle;
}

static uint32_t next_clip(draft *d)
{
    const th_repertoire *r = d->plan->repertoire;
    if (!r)
        return random_clip(d);
    const uint32_t gait = gait_index(r, d->state);
    if (gait < r->gait_count)
        return after_gait(d, gait);
    return d->state == r->idle ? after_idle(d) : r->idle;
}

/* ---- how long ---- */

/* Whole loops, and as much of one as leads to where the transition begins. */
static double gait_stay(draft *d, const th_transition *next)
{
    const double length_s = th_clip_length_s(d->plan->model, d->state);
    const double gain = th_repertoire_speed(d->plan->repertoire, d->state) - d->plan->speed;
    const double room = STRAYS_S / 2 * d->plan->repertoire->gaits[0].speed - strayed(d);
    const double part = next->from_ratio - d->ratio, most = fmin(room / (gain * length_s), MOST_LOOPS);
    return (th_ratio_wrapped(part) + 1 + floor(draw(d) * fmax(most, 0))) * length_s;
}

/* A clip that does not loop: until its end would be reached in the transition to the next. */
static double rest_of_clip(const draft *d, const th_transition *next)
{
    return fmax((1 - d->ratio) * th_clip_length_s(d->plan->model, d->state) - next->duration_s, 0);
}

static bool plays_once(const draft *d)
{
    const th_repertoire *r = d->plan->repertoire;
    for (uint32_t n = 0; r && n < r->stand_count; n++)
        if (r->stands[n].clip == d->state)
            return !r->stands[n].loops;
    return false;
}

static double stand_stay(draft *d, const th_transition *next)
{
    double most = STANDS_S;
    if (plays_once(d))
        return rest_of_clip(d, next);
    if (d->plan->speed > 0) {
        const double room = STRAYS_S / 2 * d->plan->repertoire->gaits[0].speed + strayed(d);
        most = fmin(fmax(room / d->plan->speed, STAND_S), STANDS_S);
    }
    const double stay_s = STAND_S + draw(d) * (most - STAND_S);
    if (isnan(next->from_ratio))
        return stay_s;
    const double length_s = th_clip_length_s(d->plan->model, d->state);
    return stay_s + th_ratio_wrapped(next->from_ratio - d->ratio - stay_s / length_s) * length_s;
}

static double stay(draft *d, const th_transition *next)
{
    return th_repertoire_speed(d->plan->repertoire, d->state) > 0 ? gait_stay(d, next) : stand_stay(d, next);
}

/* ---- a routine ---- */

/* How much longer the first clip has to stand so that the mean speed is as planned. */
static double missing_stand(const draft *d)
{
    return d->plan->speed > 0 ? strayed(d) / d->plan->speed : 0;
}

static bool is_complete(const draft *d)
{
    const th_routine *r = d->out;
    if (d->state != d->first || r->count < 3 || d->time_s < LENGTH_S)
        return false;
    const double stay_s = r->begin_s[1] - r->parts[0].settled_s + missing_stand(d);
    return d->plan->speed == 0 || (stay_s >= STAND_S && stay_s <= STANDS_S);
}

typedef enum attempt { GOOD, BAD, NO_MEMORY } attempt;

static attempt attempt_from(draft *d, uint32_t first)
{
    begin(d, first);
    while (!is_complete(d)) {
        const th_transition *t = d->plan->transition(d->plan->ctx, d->state, next_clip(d));
        if (!t)
            return NO_MEMORY;
        add_part(d, d->time_s + stay(d, t), t);
        if (d->out->count == MOST_PARTS)
            return BAD;
    }
    delay(d, missing_stand(d));
    close(d);
    measure_straying(d->plan, d->out);
    return GOOD;
}

/* One clip for ever. */
static void repeat(draft *d, uint32_t clip)
{
    begin(d, clip);
    d->out->length_s = th_clip_length_s(d->plan->model, clip);
    d->out->length = d->out->length_s * d->out->parts[0].speed;
}

/* The clip that every routine begins with; TH_NO_INDEX: there is nothing to choose from. */
static uint32_t first_clip(draft *d)
{
    const th_repertoire *r = d->plan->repertoire;
    const uint32_t clips = d->plan->model->clip_count;
    if (!r)
        return clips > 1 ? (uint32_t)(draw(d) * clips) : TH_NO_INDEX;
    return r->gait_count + r->stand_count + r->gesture_count > 0 ? r->idle : TH_NO_INDEX;
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

bool th_routine_make(const th_routine_plan *plan, th_routine *out)
{
    assert(plan && plan->transition && out);
    const th_repertoire *r = plan->repertoire;
    uint32_t made = 0;
    double best = 0;
    for (uint64_t n = 0; n < ATTEMPTS && made < CANDIDATES; n++) {
        th_routine candidate;
        draft d = {.plan = plan, .out = &candidate, .seed = th_random_bits(plan->seed, n)};
        const uint32_t first = first_clip(&d);
        if (first == TH_NO_INDEX)
            break;
        const attempt result = attempt_from(&d, first);
        if (result == NO_MEMORY)
            return false;
        const double worth =
            result == GOOD ? worth_of(&candidate, r && r->gait_count > 0 ? r->gaits[0].speed : 0) : -HUGE_VAL;
        if (result == GOOD && (made++ == 0 || worth > best)) {
            best = worth;
            *out = candidate;
        }
    }
    draft d = {.plan = plan, .out = out};
    if (made == 0 && r && r->gait_count > 0)
        repeat(&d, r->gaits[0].clip);
    else if (made == 0 && r && r->idle != TH_NO_INDEX)
        repeat(&d, r->idle);
    else if (made == 0)
        memset(out, 0, sizeof *out);
    return true;
}
