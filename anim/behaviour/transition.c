#include "transition.h"

#include <anim/exact.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#define STEPS  TH_TRANSITION_STEPS
#define START  0.42 /* a transition between standing and walking, in lengths of the gait */
#define APART  0.35 /* the part of it in which the weight has yet to rise, or has risen */
#define PHASES 64   /* positions in a gait at which poses are compared */
#define BEGINS 24u  /* positions in a gait at which changes of gait are compared */
#define FADES  24u  /* positions in a clip that stands at which fades are compared */
#define LONG_S 5.0  /* a clip that lasts longer is left at any time */

#define SMOOTHED 8 /* times that the travel is averaged with that of the steps beside */

double th_repertoire_speed(const th_repertoire *repertoire, uint32_t clip)
{
    for (uint32_t g = 0; repertoire && g < repertoire->gait_count; g++)
        if (repertoire->gaits[g].clip == clip)
            return repertoire->gaits[g].speed;
    return 0;
}

double th_clip_length_s(const th_model *model, uint32_t clip)
{
    const th_clip *c = &model->clips[clip];
    return c->duration_ticks > 0 ? c->duration_ticks / c->ticks_per_second : 1;
}

th_transition_moment th_transition_at(const th_transition *t, double since_s)
{
    assert(t && since_s >= 0);
    const double part = fmin(since_s / t->duration_s, 1), at = part * STEPS;
    const uint32_t step = at < STEPS - 1 ? (uint32_t)at : STEPS - 1;
    const double x = at - step;
    return (th_transition_moment){.from_ratio =
                                      t->from_ratios[step] + x * (t->from_ratios[step + 1] - t->from_ratios[step]),
                                  .to_ratio = t->to_ratios[step] + x * (t->to_ratios[step + 1] - t->to_ratios[step]),
                                  .travel = t->travel[step] + x * (t->travel[step + 1] - t->travel[step]),
                                  .to_weight = th_transition_weight(t, part)};
}

/* Rates of a clip, in clip lengths per second: they change between two parts of the transition as weights do. */
typedef struct ramp {
    double first, last, begin, end;
} ramp;

static double rate_at(const ramp *r, double part)
{
    const double x = (double)th_fade_weight((part - r->begin) / (r->end - r->begin));
    return r->first + x * (r->last - r->first);
}

/* Positions in a clip that starts at `begin`. */
static void run(const th_transition *t, double begin, ramp r, double *ratios)
{
    ratios[0] = begin;
    for (uint32_t k = 1; k <= STEPS; k++) {
        const double before = rate_at(&r, (k - 1.0) / STEPS), now = rate_at(&r, (double)k / STEPS);
        ratios[k] = ratios[k - 1] + (before + now) / 2 * t->duration_s / STEPS;
    }
}

static ramp steady(double rate)
{
    return (ramp){rate, rate, 0, 1};
}

void th_transition_fade(const th_model *model, uint32_t from, uint32_t to, th_transition *out)
{
    assert(model && out);
    const double from_s = th_clip_length_s(model, from), to_s = th_clip_length_s(model, to);
    *out = (th_transition){.from = from, .to = to, .duration_s = TH_FADE_S, .weight_end = 1, .from_ratio = (double)NAN};
    run(out, 0, steady(1 / from_s), out->from_ratios);
    run(out, 0, steady(1 / to_s), out->to_ratios);
}

/* ---- gaits in step ---- */

/* Sum of squared distances of joints. */
static double difference(const th_model *model, const th_dmat34 *a, const th_dmat34 *b)
{
    double sum = 0;
    for (uint32_t j = 0; j < model->joint_count; j++)
        for (int i = 3; i < 12; i += 4)
            sum += (a[j].m[i] - b[j].m[i]) * (a[j].m[i] - b[j].m[i]);
    return sum;
}

double th_gait_lead(th_feet *f, uint32_t a, uint32_t b)
{
    enum { N = TH_GAIT_LEAD_POSES / 2 };
    const th_model *model = f->proxy.model;
    const size_t joints = model->joint_count;
    double best = 0, least = HUGE_VAL;
    for (uint32_t n = 0; n < 2 * N; n++) {
        const th_clip *clip = &model->clips[n < N ? a : b];
        th_exact_pose(model, clip, (double)(n % N) / N * clip->duration_ticks, f->proxy.interpolation,
                      f->poses + n * joints);
    }
    for (uint32_t lead = 0; lead < N; lead++) {
        double sum = 0;
        for (uint32_t n = 0; n < N; n++)
            sum += difference(model, f->poses + n * joints, f->poses + (N + (n + lead) % N) * joints);
        best = sum < least ? (double)lead / N : best;
        least = fmin(sum, least);
    }
    return best;
}

/* ---- what the feet do ---- */

/* Poses the feet in a blend of two clips. */
static void blend(th_feet *f, const th_transition *t, uint32_t step)
{
    const float weight = th_transition_weight(t, (double)step / STEPS);
    const double from = th_ratio_wrapped(t->from_ratios[step]), to = th_ratio_wrapped(t->to_ratios[step]);
    const th_layer layers[2] = {{.ratio = from, .weight = 1 - weight, .clip = (uint16_t)t->from, .mask = TH_NO_MASK},
                                {.ratio = to, .weight = weight, .clip = (uint16_t)t->to, .mask = TH_NO_MASK}};
    th_feet_pose(f, layers, 2);
}

/* Returns how far a point slides that stands, at most. Gives up where that is `limit`: the rest is not set then. */
static double set_travel(th_feet *f, double heading_rad, const double *speeds, const double *lengths_s, double limit,
                         th_transition *t)
{
    double most = 0;
    blend(f, t, 0);
    memset(f->slid, 0, f->points.count * sizeof *f->slid);
    for (uint32_t k = 1; k <= STEPS && most < limit; k++) {
        blend(f, t, k);
        double step = th_feet_step(f, heading_rad);
        if (isnan(step)) { /* Nothing is on the ground: the weighted speed of the clips. */
            const double to = (double)th_transition_weight(t, (k - 0.5) / STEPS);
            step = (1 - to) * speeds[0] * (t->from_ratios[k] - t->from_ratios[k - 1]) * lengths_s[0] +
                   to * speeds[1] * (t->to_ratios[k] - t->to_ratios[k - 1]) * lengths_s[1];
        }
        t->travel[k] = t->travel[k - 1] + step;
        most = fmax(most, th_feet_slide(f, heading_rad, step));
    }
    return most;
}

/* ---- where feet pass each other ---- */

/* How differently the marked points lie to each other in a pose and in f->before, along the ground. */
static double difference_of_feet(th_feet *f, size_t count)
{
    double sum = 0, mean[3] = {0};
    for (size_t k = 0; k < count; k++) {
        const size_t n = (size_t)f->moved[k];
        for (int i = 0; i < 3; i += 2)
            mean[i] += (f->now[n][i] - f->before[n][i]) / (double)count;
    }
    for (size_t k = 0; k < count; k++) {
        const size_t n = (size_t)f->moved[k];
        for (int i = 0; i < 3; i += 2)
            sum += pow(f->now[n][i] - f->before[n][i] - mean[i], 2);
    }
    return sum;
}

/* The position in a gait at which the feet lie to each other as in a clip that stands. */
static double passing(th_feet *f, uint32_t gait, uint32_t stand)
{
    double best = 0, least = HUGE_VAL;
    const th_clip *clip = &f->proxy.model->clips[gait];
    const size_t count = th_feet_mark_standing(f, stand);
    th_feet_advance(f);
    for (uint32_t n = 0; n < PHASES; n++) {
        th_bounds_proxy_pose(&f->proxy, clip, clip->duration_ticks * n / PHASES);
        th_feet_locate(f);
        const double d = difference_of_feet(f, count);
        best = d < least ? (double)n / PHASES : best;
        least = fmin(d, least);
    }
    return best;
}

/* ---- between clips that stand ---- */

/* Whether the moment of a fade may be chosen: the clip is not over meanwhile, and one need not wait for long. */
static bool may_wait(const th_model *model, const th_repertoire *repertoire, uint32_t clip)
{
    for (uint32_t n = 0; n < repertoire->stand_count; n++)
        if (repertoire->stands[n].clip == clip)
            return repertoire->stands[n].loops && th_clip_length_s(model, clip) < LONG_S;
    return false;
}

/* One of the two is the idle clip. The middle of the fade is where feet move least. Feet that stand in both poses do
 * not in their blend, where legs are bent differently. */
static void stand_differently(th_feet *f, const th_repertoire *repertoire, const double *lengths_s, th_transition *t)
{
    const bool out_of_idle = t->from == repertoire->idle;
    const uint32_t clip = out_of_idle ? t->to : t->from;
    const double length = t->duration_s / lengths_s[out_of_idle]; /* of the fade, in clip lengths */
    double calmest = 0, least = HUGE_VAL;
    const size_t count = th_feet_mark_standing(f, repertoire->idle);
    const th_layer stand = {.weight = 1, .clip = (uint16_t)repertoire->idle, .mask = TH_NO_MASK};
    for (uint32_t n = 0; n < FADES; n++) {
        double slide = 0; /* of the marked points, along the ground, at most */
        for (int quarter = 1; quarter < 4; quarter++) {
            const float part = (float)quarter / 4;
            th_layer layers[2] = {stand, stand};
            layers[0].weight = 1 - part;
            layers[1].weight = part;
            layers[1].clip = (uint16_t)clip;
            layers[1].ratio = th_ratio_wrapped((double)n / FADES + ((double)part - 0.5) * length);
            th_feet_pose(f, &stand, 1);
            th_feet_pose(f, layers, 2);
            for (size_t k = 0; k < count; k++) {
                const double *before = f->before[(size_t)f->moved[k]], *now = f->now[(size_t)f->moved[k]];
                slide = fmax(slide, hypot(now[0] - before[0], now[2] - before[2]));
            }
        }
        calmest = slide < least ? (double)n / FADES : calmest;
        least = fmin(slide, least);
    }
    const double begin = th_ratio_wrapped(calmest - length / 2);
    if (out_of_idle) {
        run(t, begin, steady(1 / lengths_s[1]), t->to_ratios);
        return;
    }
    t->from_ratio = begin;
    for (uint32_t k = 0; k <= STEPS; k++)
        t->from_ratios[k] += begin;
}

/* ---- with a gait ---- */

/* One of the two walks. Walking begins and ends where the foot in the air passes above where it stood or will stand.
 * The character stands on the other foot while the weights change most, and walks while they do not. */
static void walk_differently(th_feet *f, const th_repertoire *repertoire, const double *lengths_s, th_transition *t)
{
    const double speeds[2] = {th_repertoire_speed(repertoire, t->from), th_repertoire_speed(repertoire, t->to)};
    const double rates[2] = {1 / lengths_s[0], 1 / lengths_s[1]}, heading_rad = repertoire->heading_rad;
    th_feet_find_ground(f, (const uint32_t[2]){t->from, t->to}, 2);
    const bool changes_gait = speeds[0] > 0 && speeds[1] > 0;
    if (changes_gait) {
        /* A change of gait takes a step: the longer it took, the further would the blend move a foot that stands. It
         * begins where feet slide least. */
        const double lead = th_gait_lead(f, t->from, t->to);
        double least = HUGE_VAL;
        for (uint32_t n = 0; n < BEGINS; n++) {
            const ramp common = {rates[0], rates[1], 0, 1};
            th_transition tried = *t;
            tried.duration_s = (lengths_s[0] + lengths_s[1]) / 4;
            tried.from_ratio = (double)n / BEGINS;
            run(&tried, tried.from_ratio, common, tried.from_ratios);
            run(&tried, tried.from_ratio + lead, common, tried.to_ratios);
            const double slide = set_travel(f, heading_rad, speeds, lengths_s, least, &tried);
            if (slide < least)
                *t = tried;
            least = fmin(slide, least);
        }
    } else if (speeds[0] > 0) {
        const ramp slower = {rates[0], 0, 0, 1 - APART};
        const double passing_at = passing(f, t->from, t->to);
        t->duration_s = START * lengths_s[0];
        t->weight_begin = APART;
        run(t, 0, slower, t->from_ratios);
        t->from_ratio = th_ratio_wrapped(passing_at - t->from_ratios[STEPS]);
        run(t, t->from_ratio, slower, t->from_ratios);
        run(t, 0, steady(rates[1]), t->to_ratios);
    } else {
        const double passing_at = passing(f, t->to, t->from);
        t->duration_s = START * lengths_s[1];
        t->weight_end = 1 - APART;
        run(t, 0, steady(rates[0]), t->from_ratios);
        run(t, passing_at, (ramp){0, rates[1], APART, 1}, t->to_ratios);
    }
    if (!changes_gait)
        set_travel(f, heading_rad, speeds, lengths_s, HUGE_VAL, t);

    /* A foot that touches the ground for a moment, before it carries or after, would make the character lurch. The
     * whole distance stays as it is. */
    for (uint32_t pass = 0; pass < SMOOTHED; pass++) {
        double before = t->travel[0];
        for (uint32_t k = 1; k < STEPS; k++) {
            const double now = t->travel[k];
            t->travel[k] = (before + 2 * now + t->travel[k + 1]) / 4;
            before = now;
        }
    }
}

bool th_transition_walk(const th_model *model, const th_repertoire *repertoire, th_interpolation interpolation,
                        uint32_t from, uint32_t to, th_transition *out)
{
    assert(model && repertoire && out);
    const double lengths_s[2] = {th_clip_length_s(model, from), th_clip_length_s(model, to)};
    th_transition_fade(model, from, to, out);
    const bool stands = th_repertoire_speed(repertoire, from) == 0 && th_repertoire_speed(repertoire, to) == 0;
    if (stands && !may_wait(model, repertoire, from) && !may_wait(model, repertoire, to))
        return true;
    th_feet f = {0};
    const bool good = th_feet_init(&f, model, interpolation, from);
    if (good && stands)
        stand_differently(&f, repertoire, lengths_s, out);
    else if (good)
        walk_differently(&f, repertoire, lengths_s, out);
    th_feet_fini(&f);
    return good;
}
