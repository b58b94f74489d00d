/* Each interpolation against its formulas, written again in long double. */
#include "random_model.h"

#include <anim/exact.h>

#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

enum { MOST_KEYS = 9 };

typedef long double real;

#define TOLERANCE 1e-12L

typedef struct keys {
    uint32_t width;
    th_track track; /* of the arrays below */
    double times[MOST_KEYS];
    float values[4 * MOST_KEYS], tangents[8 * MOST_KEYS];
} keys;

typedef enum turns {
    TURNS_RANDOM,    /* neighbours of any distance and sign */
    TURNS_SMALL,     /* below a degree */
    TURNS_ANTIPODAL, /* every second key is the one before, negated */
    TURNS_HALF,      /* half turns, so that no way is shorter */
    TURNS_COUNT
} turns;

/* ---- the formulas ---- */

static real dot(const real a[4], const real b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static real normalize(real q[4])
{
    real length = sqrtl(dot(q, q));
    for (int i = 0; i < 4; i++)
        q[i] /= length;
    return length;
}

/* Half the angle that takes one of two unit quaternions, as they are signed, to the other (W. Kahan). */
static real angle_between(const real a[4], const real b[4])
{
    real apart[4], together[4];
    for (int i = 0; i < 4; i++) {
        apart[i] = a[i] - b[i];
        together[i] = a[i] + b[i];
    }
    return 2 * atan2l(sqrtl(dot(apart, apart)), sqrtl(dot(together, together)));
}

static void wanted_slerp(const real a[4], const real b[4], real t, real out[4])
{
    real angle = angle_between(a, b);
    for (int i = 0; i < 4; i++)
        out[i] = angle == 0 ? a[i] : (sinl((1 - t) * angle) * a[i] + sinl(t * angle) * b[i]) / sinl(angle);
}

/* Keys as the formulas take them: in long double; rotations but those of splines of unit length, all signs continuous
 * from the first key on. */
static void wanted_keys(const keys *k, bool spline, real out[MOST_KEYS][4])
{
    for (uint32_t n = 0; n < k->track.key_count; n++) {
        for (uint32_t i = 0; i < k->width; i++)
            out[n][i] = (real)k->values[n * k->width + i];
        if (k->width == 3 || spline)
            continue;
        normalize(out[n]);
        real sign = n > 0 && dot(out[n], out[n - 1]) < 0 ? -1 : 1;
        for (int i = 0; i < 4; i++)
            out[n][i] *= sign;
    }
}

static real slope(const keys *k, real v[MOST_KEYS][4], uint32_t key, uint32_t i)
{
    uint32_t before = key > 0 && k->times[key - 1] < k->times[key] ? key - 1 : key,
             after = key + 1 < k->track.key_count && k->times[key + 1] > k->times[key] ? key + 1 : key;
    return (v[after][i] - v[before][i]) / ((real)k->times[after] - (real)k->times[before]);
}

/* Component i on the curve from key n to the next; `length`: of the interval. */
static real wanted_cubic(const keys *k, real v[MOST_KEYS][4], uint32_t n, uint32_t i, real t, real length)
{
    real leave = k->track.tangents ? (real)k->tangents[(2 * n + 1) * k->width + i] : slope(k, v, n, i);
    real arrive = k->track.tangents ? (real)k->tangents[2 * (n + 1) * k->width + i] : slope(k, v, n + 1, i);
    return (2 * t * t * t - 3 * t * t + 1) * v[n][i] + length * (t * t * t - 2 * t * t + t) * leave +
           (-2 * t * t * t + 3 * t * t) * v[n + 1][i] + length * (t * t * t - t * t) * arrive;
}

/* Returns what one rounding may grow by on the way: larger where a curve of quaternions comes near 0. */
static real wanted(const keys *k, double ticks, th_interpolation how, real out[4])
{
    if (how == TH_INTERPOLATION_AUTHORED)
        how = k->track.tangents ? TH_INTERPOLATION_CUBIC
              : k->track.steps  ? TH_INTERPOLATION_STEP
                                : TH_INTERPOLATION_SLERP;
    real v[MOST_KEYS][4] = {{0}};
    wanted_keys(k, k->track.tangents && how == TH_INTERPOLATION_CUBIC, v);
    uint32_t n = 0, count = k->track.key_count;
    while (n + 1 < count && k->times[n + 1] <= ticks)
        n++;
    memcpy(out, v[n], sizeof v[n]);
    bool inside = n + 1 < count && ticks > k->times[0];
    if (inside && how != TH_INTERPOLATION_STEP) {
        real start = (real)k->times[n], length = (real)k->times[n + 1] - start, t = ((real)ticks - start) / length;
        for (uint32_t i = 0; i < k->width; i++)
            out[i] = how == TH_INTERPOLATION_CUBIC ? wanted_cubic(k, v, n, i, t, length)
                                                   : (1 - t) * v[n][i] + t * v[n + 1][i];
        if (k->width == 4 && how == TH_INTERPOLATION_SLERP)
            wanted_slerp(v[n], v[n + 1], t, out);
    }
    return k->width == 4 ? 2 / fminl(1, normalize(out)) : 10;
}

/* ---- made-up keys ---- */

static void random_turn(uint64_t *state, double largest, float out[4])
{
    real q[4], angle = (real)random_between(state, 0, largest) / 2;
    for (int i = 0; i < 3; i++)
        q[i] = (real)random_between(state, -1, 1);
    q[3] = 0;
    normalize(q);
    for (int i = 0; i < 3; i++)
        out[i] = (float)(q[i] * sinl(angle));
    out[3] = (float)cosl(angle);
}

static void make_rotation(uint64_t *state, turns kind, uint32_t key, float q[4])
{
    static const float half[4][4] = {
        {0.5f, 0.5f, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f, -0.5f}, {0, 0.6f, 0, -0.8f}, {1, 0, 0, 0}};
    if (kind == TURNS_ANTIPODAL && key % 2 == 1)
        for (int i = 0; i < 4; i++)
            q[i] = -q[i - 4];
    else if (kind == TURNS_HALF)
        memcpy(q, half[key % 2 + (key % 8 < 4 ? 0 : 2)], sizeof half[0]);
    else
        random_turn(state, kind == TURNS_SMALL ? 0.01 : 6.2, q);
}

/* Keys a second or two apart, some a moment apart: as little as a double can tell; and two of them at one time. */
static void make_times(uint64_t *state, uint32_t count, double times[])
{
    double at = random_between(state, -3, 3);
    for (uint32_t n = 0; n < count; n++) {
        times[n] = at;
        double moment = random_between(state, 0, 1);
        if (moment < 0.05 && (n == 0 || times[n - 1] < at))
            continue;
        at = moment < 0.1 ? nextafter(at, HUGE_VAL) : at + (moment < 0.2 ? 1e-9 : random_between(state, 0.05, 2));
    }
}

/* Tangents make splines, and their rotations of any length. */
static void make_keys(uint64_t *state, uint32_t width, uint32_t count, turns kind, bool tangents, keys *k)
{
    *k = (keys){.width = width, .track = {count, k->times, k->values, tangents ? k->tangents : NULL, false}};
    make_times(state, count, k->times);
    for (uint32_t n = 0; n < count; n++)
        if (width == 4)
            make_rotation(state, kind, n, k->values + 4 * n);
    for (uint32_t i = 0; i < count * width; i++)
        if (width == 3)
            k->values[i] = (float)random_between(state, -10, 10);
        else if (tangents)
            k->values[i] *= i / 4 % 2 ? 1.5f : 0.5f;
    for (uint32_t i = 0; tangents && i < 2 * count * width; i++)
        k->tangents[i] = (float)random_between(state, -1, 1);
}

/* ---- comparing ---- */

static real distance(const keys *k, const double got[], const real want[4])
{
    real same = 0, turned = 0;
    for (uint32_t i = 0; i < k->width; i++) {
        same = fmaxl(same, fabsl((real)got[i] - want[i]));
        turned = fmaxl(turned, fabsl((real)got[i] + want[i]));
        if (!isfinite(got[i]))
            return HUGE_VALL;
    }
    return k->width == 4 ? fminl(same, turned) : same; /* q and -q are one rotation */
}

typedef struct joint {
    keys translation, rotation, scale;
} joint;

static th_trs sample(const joint *j, double ticks, th_interpolation how)
{
    th_channel channel = {0, j->translation.track, j->rotation.track, j->scale.track, 0, NULL};
    th_trs trs;
    th_exact_channel(&channel, ticks, how, &trs);
    return trs;
}

static void compare(const keys *k, const double got[], double ticks, th_interpolation how)
{
    real want[4], grows = wanted(k, ticks, how, want), off = distance(k, got, want);
    cr_assert(off <= TOLERANCE * grows, "%s, %u keys of %u%s at %.17g: off by %Lg", th_interpolation_name(how),
              k->track.key_count, k->width, k->track.tangents ? " with tangents" : "", ticks, off);
}

static void compare_all(const joint *j, double ticks)
{
    for (int how = TH_INTERPOLATION_AUTHORED; how < TH_INTERPOLATION_COUNT; how++) {
        th_trs got = sample(j, ticks, (th_interpolation)how);
        compare(&j->translation, got.translation, ticks, (th_interpolation)how);
        compare(&j->rotation, got.rotation, ticks, (th_interpolation)how);
        compare(&j->scale, got.scale, ticks, (th_interpolation)how);
    }
}

/* At the keys, just before and after them, between them, before the first and after the last. */
static void compare_around(const joint *j, const keys *k, uint64_t *state)
{
    for (uint32_t n = 0; n < k->track.key_count; n++) {
        double at = k->times[n], next = n + 1 < k->track.key_count ? k->times[n + 1] : at + 3;
        compare_all(j, n == 0 ? at - 2 : nextafter(at, -HUGE_VAL));
        compare_all(j, at);
        compare_all(j, nextafter(at, HUGE_VAL));
        for (int i = 0; i < 5; i++)
            compare_all(j, at + (next - at) * random_between(state, 0, 1));
    }
}

Test(interpolation, follows_its_formula)
{
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (uint32_t n = 0; n < 500; n++) {
        uint32_t counts[3];
        bool tangents[3];
        joint j;
        for (int i = 0; i < 3; i++) {
            counts[i] = 1 + (uint32_t)random_between(&state, 0, MOST_KEYS);
            tangents[i] = counts[i] > 1 && random_between(&state, 0, 1) < 0.4;
        }
        make_keys(&state, 3, counts[0], TURNS_RANDOM, tangents[0], &j.translation);
        make_keys(&state, 4, counts[1], (turns)(n % TURNS_COUNT), tangents[1], &j.rotation);
        make_keys(&state, 3, counts[2], TURNS_RANDOM, tangents[2], &j.scale);
        j.translation.track.steps = !tangents[0] && n % 3 == 0;
        j.rotation.track.steps = !tangents[1] && n % 5 == 0;
        j.scale.track.steps = !tangents[2] && n % 7 == 0;
        compare_around(&j, &j.translation, &state);
        compare_around(&j, &j.rotation, &state);
        compare_around(&j, &j.scale, &state);
    }
}

/* ---- what no formula says ---- */

static void make_joint(uint64_t *state, uint32_t count, bool tangents, joint *j)
{
    make_keys(state, 3, count, TURNS_RANDOM, tangents, &j->translation);
    make_keys(state, 4, count, TURNS_RANDOM, tangents, &j->rotation);
    make_keys(state, 3, count, TURNS_RANDOM, tangents, &j->scale);
    for (uint32_t n = 0; n < count; n++)
        j->translation.times[n] = j->rotation.times[n] = j->scale.times[n] = 0.25 * n * (n + 3);
}

/* The old value again at the time of the new one, or at the last moment before it. */
static void check_jumps(const double times[5], double most_of_cubic)
{
    const float values[] = {3, 0, 0, 3, 0, 0, 5, 0, 0, 5, 0, 0, 4, 0, 0}, turn[] = {0, 0, 0, 1};
    const th_track track = {5, times, values, NULL, false}, one = {1, times, turn, NULL, false};
    th_channel channel = {0, track, one, track, 0, NULL};
    for (int how = TH_INTERPOLATION_AUTHORED; how < TH_INTERPOLATION_COUNT; how++)
        for (int i = 0; i <= 250; i++) {
            th_trs trs;
            th_exact_channel(&channel, i * 0.01, (th_interpolation)how, &trs);
            double want = i < 100 ? 3 : i < 200 ? 5 : 4;
            double most = how == TH_INTERPOLATION_CUBIC ? most_of_cubic : 0;
            cr_assert_float_eq(trs.translation[0], want, most, "%s at %d", th_interpolation_name((th_interpolation)how),
                               i);
        }
}

Test(interpolation, lines_that_jump_do_so)
{
    check_jumps((const double[]){0, 1, 1, 2, 2}, 1e-15);
    check_jumps((const double[]){0, nextafter(1, 0), 1, nextafter(2, 0), 2},
                3 * 4.0 / 27); /* of t - 2 t^2 + t^3, at both ends */
}

/* So close that one over the distance is infinite. */
Test(interpolation, makes_numbers_of_keys_at_nearly_one_time)
{
    const double times[] = {-1e-309, 0, 1e-309, 2e-309, 1};
    const float values[] = {1, 2, 3, -1, -2, -3, 7, 8, 9, 0, 0, 0, 1, 1, 1};
    const float flips[] = {0, 0, 0, 1, 1, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0};
    joint j = {.translation = {.width = 3}, .rotation = {.width = 4}};
    th_channel channel = {
        0, {5, times, values, NULL, false}, {5, times, flips, NULL, false}, {5, times, values, NULL, false}, 0, NULL};
    for (int how = TH_INTERPOLATION_AUTHORED; how < TH_INTERPOLATION_COUNT; how++)
        for (int i = 0; i < 5; i++)
            for (int between = 0; between < 2; between++) {
                th_trs trs;
                th_exact_channel(&channel, times[i] + between * 0.5 * (times[i < 4 ? i + 1 : i] - times[i]),
                                 (th_interpolation)how, &trs);
                cr_assert(distance(&j.translation, trs.translation, (real[4]){0}) < 20);
                cr_assert_float_eq(
                    hypot(hypot(trs.rotation[0], trs.rotation[1]), hypot(trs.rotation[2], trs.rotation[3])), 1, 1e-12);
            }
}

Test(interpolation, reaches_every_joint_of_a_pose)
{
    uint64_t state = 7;
    joint j;
    make_joint(&state, 4, true, &j);
    const th_channel channel = {1, j.translation.track, j.rotation.track, j.scale.track, 0, NULL};
    const th_clip clip = clip_of(&channel, 1, 9, 1);
    const th_joint joints[] = {root_joint, {"child", 0, TH_MAT34_IDENTITY, NULL}};
    const th_model model = model_of(joints, NULL, 2, &clip);
    for (int how = TH_INTERPOLATION_AUTHORED; how < TH_INTERPOLATION_COUNT; how++) {
        th_dmat34 local[2], pose[2];
        th_trs trs = sample(&j, 1.3, (th_interpolation)how);
        th_dmat34 want = th_dmat34_from_trs(&trs);
        th_exact_sample(&model, &clip, 1.3, (th_interpolation)how, local);
        th_exact_pose(&model, &clip, 1.3, (th_interpolation)how, pose);
        cr_assert_eq(th_dmat34_distance(&local[1], &want), 0);
        cr_assert_eq(th_dmat34_distance(&pose[1], &want), 0);
    }
}
