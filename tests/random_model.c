#include "random_model.h"

#include <core/arena.h>
#include <throng/anim/exact.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_PER_SECOND        24.0
#define SPLINE_TICKS_PER_SECOND 3.0 /* their keys stand further apart */

typedef struct maker {
    const random_desc *desc;
    uint64_t state;
    th_arena *arena;
    th_model *model;
} maker;

double random_between(uint64_t *state, double low, double high)
{
    *state ^= *state << 13; /* xorshift64 */
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return low + (high - low) * ((double)(*state >> 11) * 0x1p-53);
}

static double between(maker *m, double low, double high)
{
    return random_between(&m->state, low, high);
}

static bool chance(maker *m, double probability)
{
    return between(m, 0, 1) < probability;
}

static void random_rotation(maker *m, double largest_rad, double q[4])
{
    double axis[4] = {between(m, -1, 1), between(m, -1, 1), between(m, -1, 1), 0.01};
    th_quat_normalize(axis);
    double half = between(m, -largest_rad, largest_rad) / 2;
    for (int i = 0; i < 3; i++)
        q[i] = axis[i] * sin(half);
    q[3] = cos(half);
    th_quat_normalize(q);
}

static void random_sizes(maker *m, double scale[3])
{
    double uniform = m->desc->scale >= RANDOM_UNIFORM && chance(m, 0.3) ? between(m, 0.7, 1.4) : 1;
    for (int i = 0; i < 3; i++) {
        scale[i] = uniform;
        if (m->desc->scale == RANDOM_NON_UNIFORM && chance(m, 0.3))
            scale[i] *= between(m, 0.8, 1.25) * (chance(m, 0.2) ? -1 : 1);
    }
}

static void make_joints(maker *m)
{
    uint32_t count = m->desc->joint_count;
    th_joint *joints = th_arena_new(m->arena, th_joint, count);
    for (uint32_t j = 0; j < count; j++) {
        uint32_t parent = j - 1;
        if (m->desc->shape == RANDOM_STAR)
            parent = 0;
        while (m->desc->shape == RANDOM_TREE && j > 0 && joints[parent].parent != TH_NO_INDEX && chance(m, 0.35))
            parent = joints[parent].parent;
        th_trs trs;
        for (int i = 0; i < 3; i++)
            trs.translation[i] = between(m, -0.2, 0.2);
        random_rotation(m, 3.1, trs.rotation);
        random_sizes(m, trs.scale);
        if (j == 0 && m->desc->scale == RANDOM_UNITS)
            for (int i = 0; i < 3; i++)
                trs.scale[i] = 0.01;
        else if (m->desc->scale == RANDOM_UNITS)
            for (int i = 0; i < 3; i++)
                trs.translation[i] *= 100;
        joints[j] = (th_joint){.name = th_arena_format(m->arena, "joint_%u", j),
                               .parent = j == 0 ? TH_NO_INDEX : parent,
                               .rest = th_mat34_from(th_dmat34_from_trs(&trs))};
    }
    m->model->joints = joints;
    m->model->joint_count = count;
}

static void make_binds(maker *m)
{
    uint32_t count = m->desc->joint_count, n = 0;
    th_dmat34 *pose = calloc(count, sizeof *pose);
    th_bone *bones = th_arena_new(m->arena, th_bone, 2 * (size_t)count);
    th_exact_pose(m->model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    for (uint32_t j = 0; j < count; j++) {
        if (m->desc->double_bones && n > 0 && chance(m, 0.3))
            continue;
        th_dmat34 inverse = TH_DMAT34_IDENTITY;
        th_dmat34_invert(&pose[j], &inverse);
        bones[n++] = (th_bone){j, th_mat34_from(inverse)};
        if (m->desc->double_bones && chance(m, 0.3)) {
            th_trs other = {.scale = {1, 1, 1}, .translation = {0.1, -0.05, 0.02}};
            random_rotation(m, 1, other.rotation);
            bones[n++] = (th_bone){j, th_mat34_from(th_dmat34_mul(inverse, th_dmat34_from_trs(&other)))};
        }
    }
    free(pose);
    m->model->bones = bones;
    m->model->bone_count = n;
}

static double *make_times(maker *m, uint32_t count, double duration)
{
    double *times = th_arena_new(m->arena, double, count);
    double at = m->desc->uneven_keys ? between(m, -2, 5) : 0;
    for (uint32_t k = 0; k < count; k++) {
        times[k] = at;
        double step = duration / (count - 1);
        at = m->desc->uneven_keys ? at + step * between(m, 0.1, 1.6) : duration * (k + 1) / (count - 1);
    }
    return times;
}

/* One moving track in four becomes a spline, some of the others step; `most`: how far a tangent may lead in an
 * interval.
 */
static void make_curve(maker *m, th_track *track, uint32_t width, double most)
{
    if (track->key_count < 2)
        return;
    if (!m->desc->splines || !chance(m, 0.25)) {
        track->steps = m->desc->steps > 0 && chance(m, m->desc->steps);
        return;
    }
    uint32_t count = track->key_count;
    float *tangents = th_arena_new(m->arena, float, 2 * (size_t)count * width);
    double length = (track->times[count - 1] - track->times[0]) / (count - 1);
    for (uint32_t i = 0; i < 2 * count * width; i++)
        tangents[i] = (float)(between(m, -most, most) / length);
    track->tangents = tangents;
}

static th_track make_vectors(maker *m, const double rest[3], double spread, bool factor, double duration)
{
    uint32_t count = spread > 0 ? m->desc->key_count : 1;
    float *values = th_arena_new(m->arena, float, 3 * (size_t)count);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < 3; i++) {
            double by = spread > 0 ? between(m, -spread, spread) : 0;
            values[3 * k + i] = (float)(factor ? rest[i] * (1 + by) : rest[i] + by);
        }
    th_track track = {count, count > 1 ? make_times(m, count, duration) : th_arena_new(m->arena, double, 1), values,
                      NULL, false};
    double largest = spread;
    for (int i = 0; factor && i < 3; i++)
        largest = fmax(largest, spread * fabs(rest[i]));
    make_curve(m, &track, 3, largest);
    return track;
}

static th_track make_rotations(maker *m, const double rest[4], double duration)
{
    uint32_t count = m->desc->key_count;
    float *values = th_arena_new(m->arena, float, 4 * (size_t)count);
    double q[4], turn[4];
    memcpy(q, rest, sizeof q);
    for (uint32_t k = 0; k < count; k++) {
        random_rotation(m, m->desc->swing_rad, turn);
        double next[4];
        th_quat_mul(q, turn, next);
        double dot = next[0] * q[0] + next[1] * q[1] + next[2] * q[2] + next[3] * q[3];
        th_quat_normalize(next);
        for (uint32_t i = 0; i < 4; i++) {
            q[i] = dot < 0 ? -next[i] : next[i];
            values[4 * k + i] = (float)q[i];
        }
    }
    th_track track = {count, make_times(m, count, duration), values, NULL, false};
    make_curve(m, &track, 4, fmin(m->desc->swing_rad, 1) / 4);
    return track;
}

static void make_clips(maker *m)
{
    th_clip *clips = th_arena_new(m->arena, th_clip, m->desc->clip_count);
    for (uint32_t c = 0; c < m->desc->clip_count; c++) {
        double duration = 1 + (m->desc->key_count - 1) * (1 + c % 3);
        double rate = m->desc->splines ? SPLINE_TICKS_PER_SECOND : TICKS_PER_SECOND;
        th_channel *channels = th_arena_new(m->arena, th_channel, m->desc->joint_count);
        uint32_t n = 0;
        for (uint32_t j = 0; j < m->desc->joint_count; j++) {
            if (chance(m, 0.2))
                continue;
            th_trs rest;
            th_dmat34 matrix = th_dmat34_from(m->model->joints[j].rest);
            th_dmat34_decompose(&matrix, &rest);
            double spread = chance(m, 0.3) ? (m->desc->scale == RANDOM_UNITS && j > 0 ? 5 : 0.05) : 0;
            double stretch = m->desc->scale >= RANDOM_UNIFORM && chance(m, 0.2) ? 0.1 : 0;
            channels[n].joint = j;
            channels[n].translation = make_vectors(m, rest.translation, spread, false, duration);
            channels[n].rotation = make_rotations(m, rest.rotation, duration);
            channels[n].scale = make_vectors(m, rest.scale, stretch, true, duration);
            n++;
        }
        clips[c] = (th_clip){.name = th_arena_format(m->arena, "clip_%u", c),
                             .duration_ticks = duration,
                             .ticks_per_second = rate,
                             .channel_count = n,
                             .channels = channels};
    }
    m->model->clips = clips;
    m->model->clip_count = m->desc->clip_count;
}

th_model *random_model(const random_desc *desc)
{
    th_arena *arena = th_arena_create();
    maker m = {desc, (desc->seed + 1) * 0x9E3779B97F4A7C15u, arena, th_arena_new(arena, th_model, 1)};
    m.model->arena = arena;
    m.model->name = th_arena_format(arena, "random %llu", (unsigned long long)desc->seed);
    make_joints(&m);
    make_binds(&m);
    make_clips(&m);
    m.model->size = th_model_measure(m.model);
    th_error err;
    if (th_model_check(m.model, &err) != TH_OK) {
        fprintf(stderr, "random_model: %s\n", err.text);
        abort();
    }
    return m.model;
}

/* ---- by hand ---- */

const th_joint root_joint = {"joint", TH_NO_INDEX, {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}};
const th_bone root_bone = {0, {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}};

th_channel moving_channel(uint32_t joint, th_track translation)
{
    static const double zero;
    static const float upright[4] = {0, 0, 0, 1}, ones[3] = {1, 1, 1};
    return (th_channel){joint, translation, {1, &zero, upright, NULL, false}, {1, &zero, ones, NULL, false}, 0};
}

th_channel turning_channel(uint32_t joint, uint32_t key_count, const double *times, const float *rotations)
{
    static const double zero;
    static const float origin[3];
    th_channel channel = moving_channel(joint, (th_track){1, &zero, origin, NULL, false});
    channel.rotation = (th_track){key_count, times, rotations, NULL, false};
    return channel;
}

th_clip clip_of(const th_channel *channels, uint32_t count, double duration_ticks, double ticks_per_second)
{
    return (th_clip){.name = "clip",
                     .duration_ticks = duration_ticks,
                     .ticks_per_second = ticks_per_second,
                     .channel_count = count,
                     .channels = channels};
}

th_model model_of(const th_joint *joints, const th_bone *bones, uint32_t count, const th_clip *clip)
{
    return (th_model){.name = "model",
                      .joint_count = count,
                      .joints = joints,
                      .bone_count = count,
                      .bones = bones,
                      .clip_count = clip != NULL,
                      .clips = clip,
                      .size = 1};
}
