#include "frames.h"

#include <throng/exact.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys of one frame in single precision. */
static size_t frame_numbers(const th_rig *rig)
{
    return rig->program.frame_bytes / th_keys_bytes(rig->program.keys) * TH_KEY;
}

/* ---- keys ---- */

/* Writes the keys of one joint; returns where the next joint's begin. before: keys of the same joint, or NULL;
 * rotations take the sign that is nearer to those. */
static float *write_keys(const th_mover *mover, const th_trs *trs, const float *before, float *out)
{
    if (mover->flags & TH_STEP_ROTATION) {
        double q[4], dot = 0;
        th_quat_mul(mover->before, trs->rotation, q);
        th_quat_mul(q, mover->after, q);
        for (int i = 0; before && i < 4; i++)
            dot += q[i] * (double)before[i];
        for (int i = 0; i < 4; i++)
            *out++ = (float)(dot < 0 ? -q[i] : q[i]);
    }
    if (mover->flags & TH_STEP_SCALE) {
        for (int i = 0; i < 3; i++)
            *out++ = (float)(trs->scale[i] * mover->scale);
        *out++ = 0;
    }
    if (mover->flags & TH_STEP_TRANSLATION) {
        double t[3];
        th_dmat34_point(&mover->from_parent, trs->translation, t);
        for (int i = 0; i < 3; i++)
            *out++ = (float)(t[i] + mover->offset[i]);
        *out++ = 0;
    }
    return out;
}

static void write_frame(const th_rig *rig, const th_clip *clip, double ticks, const float *before, float *out)
{
    const th_channel *channel = clip ? clip->channels : NULL;
    const th_channel *end = clip ? channel + clip->channel_count : NULL;
    for (uint32_t m = 0; m < rig->mover_count; m++) {
        const th_mover *mover = &rig->movers[m];
        while (channel != end && channel->joint < mover->joint)
            channel++;
        th_trs trs = mover->rest;
        if (channel != end && channel->joint == mover->joint)
            th_exact_channel(channel, ticks, rig->interpolation, &trs);
        float *next = write_keys(mover, &trs, before, out);
        before = before ? before + (next - out) : NULL;
        out = next;
    }
}

/* ---- frames ---- */

/* Beyond a range is as far as the range goes; the compiler will see how far off that is. */
static int16_t pack(double value, float base, float span)
{
    const double n = span > 0 ? round((value - (double)base) / (double)span) : 0;
    return (int16_t)fmax(-32767, fmin(32767, n));
}

static void store_frame(const th_rig *rig, const float *frame, char *out)
{
    if (rig->program.keys == TH_KEYS_32) {
        memcpy(out, frame, rig->program.frame_bytes);
        return;
    }
    for (size_t i = 0; i < frame_numbers(rig); i++) {
        const th_range *range = &rig->program.ranges[i / TH_KEY];
        const int16_t n = pack((double)frame[i], range->base[i % TH_KEY], range->span[i % TH_KEY]);
        memcpy(out + i * sizeof n, &n, sizeof n);
    }
}

/* The frame beyond the end of a cubic curve that gives it the slope of its last interval there. */
static void store_beyond(const th_rig *rig, const float *last, const float *before, float *frame, char *out)
{
    for (size_t i = 0; i < frame_numbers(rig); i++)
        frame[i] = 2 * last[i] - before[i];
    store_frame(rig, frame, out);
}

static bool is_cubic(const th_program *program)
{
    return program->curve == TH_INTERPOLATION_CUBIC;
}

uint32_t th_frames_count(const th_program *program, uint32_t intervals)
{
    return intervals + 1 + (is_cubic(program) ? 2 : 0);
}

bool th_frames_write(const th_rig *rig, const th_clip *clip, uint32_t intervals, void *out)
{
    const size_t numbers = frame_numbers(rig), bytes = rig->program.frame_bytes;
    const double duration = clip ? clip->duration_ticks : 0;
    const bool cubic = is_cubic(&rig->program);
    float *all = malloc(3 * numbers * sizeof *all + 1), *now = all, *before = all + numbers, *beyond = before + numbers;
    if (!all)
        return false;
    char *at = (char *)out + (cubic ? bytes : 0);
    write_frame(rig, NULL, 0, NULL,
                before); /* the signs of the rest pose, so that all clips range over the same side */
    for (uint32_t f = 0; f <= intervals; f++, at += bytes) {
        write_frame(rig, clip, duration * f / intervals, before, now);
        store_frame(rig, now, at);
        if (cubic && f == 1)
            store_beyond(rig, before, now, beyond, out);
        if (cubic && f == intervals)
            store_beyond(rig, now, before, beyond, at + bytes);
        float *swap = now;
        now = before;
        before = swap;
    }
    free(all);
    return true;
}

/* ---- ranges ---- */

enum { JOINT_KEYS = 3 };

/* Of a joint's keys. */
typedef struct extremes {
    float least[JOINT_KEYS * TH_KEY], most[JOINT_KEYS * TH_KEY];
    float now[JOINT_KEYS * TH_KEY];
    size_t count;
} extremes;

static void add_rest(extremes *x, const th_mover *mover)
{
    x->count = (size_t)(write_keys(mover, &mover->rest, NULL, x->now) - x->now);
    memcpy(x->least, x->now, sizeof x->least);
    memcpy(x->most, x->now, sizeof x->most);
}

static void add_keys(extremes *x, const float *keys)
{
    for (size_t i = 0; i < x->count; i++) {
        x->least[i] = fminf(x->least[i], keys[i]);
        x->most[i] = fmaxf(x->most[i], keys[i]);
    }
}

/* A joint in a clip. */
typedef struct movement {
    const th_rig *rig;
    const th_mover *mover;
    const th_channel *channel;
    double duration;
} movement;

static void add_moment(extremes *x, const movement *m, double ticks)
{
    th_trs trs;
    float before[JOINT_KEYS * TH_KEY];
    memcpy(before, x->now, sizeof before);
    th_exact_channel(m->channel, ticks, m->rig->interpolation, &trs);
    write_keys(m->mover, &trs, before, x->now);
    add_keys(x, x->now);
}

/* The keys beyond an end of a cubic curve, when it is compiled on the grid of this track. */
static void add_beyond(extremes *x, const movement *m, double end, double inner)
{
    float last[JOINT_KEYS * TH_KEY], beyond[JOINT_KEYS * TH_KEY];
    if (!is_cubic(&m->rig->program))
        return;
    add_moment(x, m, end);
    memcpy(last, x->now, sizeof last);
    add_moment(x, m, inner);
    for (size_t i = 0; i < x->count; i++)
        beyond[i] = 2 * last[i] - x->now[i];
    add_keys(x, beyond);
    memcpy(x->now, last, sizeof last);
}

/* At its keys and, for curves, between them and beyond. */
static void add_track(extremes *x, const movement *m, const th_track *track)
{
    enum { PARTS = 4 };
    const uint32_t last = track->key_count - 1;
    add_beyond(x, m, 0, track->times[last > 0 && !(track->times[0] > 0)]);
    for (uint32_t k = 0; k <= last; k++) {
        const double time = track->times[k], next = track->times[k < last ? k + 1 : k];
        for (int part = 0; part < PARTS; part++)
            add_moment(x, m, time + (next - time) * part / PARTS);
    }
    add_beyond(x, m, m->duration, track->times[last > 0 && !(track->times[last] < m->duration) ? last - 1 : last]);
}

static void add_clip(extremes *x, const th_rig *rig, const th_mover *mover, const th_clip *clip)
{
    for (uint32_t c = 0; c < clip->channel_count && clip->channels[c].joint <= mover->joint; c++) {
        const th_channel *channel = &clip->channels[c];
        const movement m = {rig, mover, channel, clip->duration_ticks};
        if (channel->joint != mover->joint)
            continue;
        add_track(x, &m, &channel->translation);
        add_track(x, &m, &channel->rotation);
        add_track(x, &m, &channel->scale);
    }
}

/* A little more than was seen: curves may go beyond what was looked at. */
static void set_range(const float *least, const float *most, th_range *range)
{
    const float steps = 65000;
    for (int i = 0; i < TH_KEY; i++) {
        range->base[i] = (least[i] + most[i]) / 2;
        range->span[i] = (most[i] - least[i]) / steps;
    }
}

void th_frames_find_ranges(const th_rig *rig, th_range *ranges)
{
    for (uint32_t m = 0; m < rig->mover_count; m++) {
        extremes x;
        add_rest(&x, &rig->movers[m]);
        for (uint32_t c = 0; c < rig->model->clip_count; c++)
            add_clip(&x, rig, &rig->movers[m], &rig->model->clips[c]);
        for (size_t i = 0; i < x.count; i += TH_KEY)
            set_range(x.least + i, x.most + i, ranges++);
    }
}
