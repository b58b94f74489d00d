#include "frames.h"

#include "exact_cursor.h"
#include "weights.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of floats in a frame of 32-bit keys. */
static size_t frame_numbers(const th_compiled_model *compiled)
{
    return compiled->program.frame_bytes / th_keys_bytes(compiled->program.keys) * TH_KEY;
}

/* ---- keys ---- */

/* Writes the keys of one joint; returns the position of the next joint's. before: earlier keys of the same joint, or
 * NULL; rotations take the nearer sign. */
static float *write_keys(const th_compiled_track *track, const th_trs *trs, const float *before, float *out)
{
    if (track->flags & TH_JOINT_OP_ROTATION) {
        double q[4], dot = 0;
        th_quat_mul(track->before, trs->rotation, q);
        th_quat_mul(q, track->after, q);
        for (int i = 0; before && i < 4; i++)
            dot += q[i] * (double)before[i];
        for (int i = 0; i < 4; i++)
            *out++ = (float)(dot < 0 ? -q[i] : q[i]);
    }
    if (track->flags & TH_JOINT_OP_SCALE) {
        for (int i = 0; i < 3; i++)
            *out++ = (float)(trs->scale[i] * track->scale);
        *out++ = 0;
    }
    if (track->flags & TH_JOINT_OP_TRANSLATION) {
        double t[3];
        th_dmat34_point(&track->from_parent, trs->translation, t);
        for (int i = 0; i < 3; i++)
            *out++ = (float)(t[i] + track->offset[i]);
        *out++ = 0;
    }
    return out;
}

/* The keys of a joint that the clip leaves at rest are those of the frame before. */
static float *repeat_keys(const th_compiled_track *track, const float *before, float *out)
{
    const float *const end = before + ((track->flags & TH_JOINT_OP_ROTATION) ? TH_KEY : 0) +
                             ((track->flags & TH_JOINT_OP_SCALE) ? TH_KEY : 0) +
                             ((track->flags & TH_JOINT_OP_TRANSLATION) ? TH_KEY : 0);
    while (before != end)
        *out++ = *before++;
    return out;
}

/* cursors: of the clip's channels. weights: scratch for those of the model. */
static void write_frame(const th_compiled_model *compiled, const th_clip *clip, double ticks, const float *before,
                        th_exact_cursor *cursors, double *weights, float *out)
{
    const th_channel *channel = clip ? clip->channels : NULL;
    const th_channel *end = clip ? channel + clip->channel_count : NULL;
    for (uint32_t m = 0; m < compiled->track_count; m++) {
        const th_compiled_track *track = &compiled->tracks[m];
        while (channel != end && channel->joint < track->joint)
            channel++;
        const bool moves = channel != end && channel->joint == track->joint;
        th_trs trs = track->rest;
        if (moves)
            th_exact_cursor_channel(&cursors[channel - clip->channels], channel, ticks, compiled->interpolation, &trs);
        float *next = moves || !before ? write_keys(track, &trs, before, out) : repeat_keys(track, before, out);
        before = before ? before + (next - out) : NULL;
        out = next;
    }
    if (compiled->weight_entry_count > 0) {
        th_exact_weights(compiled->model, clip, ticks, compiled->interpolation, weights);
        th_weights_write_keys(compiled, weights, out);
    }
}

/* ---- frames ---- */

/* Clamps to the range. The compiler measures the error that this causes. */
static int16_t pack(double value, float base, float span)
{
    const double n = span > 0 ? round((value - (double)base) / (double)span) : 0;
    return (int16_t)fmax(-32767, fmin(32767, n));
}

static void store_frame(const th_compiled_model *compiled, const float *frame, char *out)
{
    if (compiled->program.keys == TH_KEYS_32) {
        memcpy(out, frame, compiled->program.frame_bytes);
        return;
    }
    for (size_t i = 0; i < frame_numbers(compiled); i++) {
        const th_key_range *range = &compiled->program.ranges[i / TH_KEY];
        const int16_t n = pack((double)frame[i], range->base[i % TH_KEY], range->span[i % TH_KEY]);
        memcpy(out + i * sizeof n, &n, sizeof n);
    }
}

static void load_frame(const th_compiled_model *compiled, const char *frame, float *out)
{
    if (compiled->program.keys == TH_KEYS_32)
        memcpy(out, frame, compiled->program.frame_bytes);
    for (size_t i = 0; compiled->program.keys == TH_KEYS_16 && i < frame_numbers(compiled); i++) {
        const th_key_range *range = &compiled->program.ranges[i / TH_KEY];
        int16_t n;
        memcpy(&n, frame + i * sizeof n, sizeof n);
        out[i] = range->base[i % TH_KEY] + range->span[i % TH_KEY] * (float)n;
    }
}

/* Writes the frame beyond the end of a cubic curve that gives the curve the slope of its last interval there. */
static void store_beyond(const th_compiled_model *compiled, const float *last, const float *before, float *frame,
                         char *out)
{
    for (size_t i = 0; i < frame_numbers(compiled); i++)
        frame[i] = 2 * last[i] - before[i];
    store_frame(compiled, frame, out);
}

static bool is_cubic(const th_program *program)
{
    return program->curve == TH_INTERPOLATION_CUBIC;
}

uint32_t th_frames_count(const th_program *program, uint32_t intervals)
{
    assert(intervals > 0);
    return intervals + 1 + (is_cubic(program) ? 2 : 0);
}

double th_frames_ticks(const th_compiled_clip *compiled_clip, const th_stretch *stretch, double frame)
{
    assert(compiled_clip && stretch);
    const double duration = compiled_clip->clip ? compiled_clip->clip->duration_ticks : 0;
    const double rate = compiled_clip->is_stepped ? compiled_clip->interval_count : stretch->rate;
    return fmin(duration, stretch->begin * duration + duration * (frame - stretch->first_frame) / rate);
}

/* Clip time of frame `f` of all. *stretch: that of the frame before. */
static double frame_ticks(const th_compiled_clip *compiled_clip, const th_stretch **stretch, uint32_t f)
{
    const double late = compiled_clip->is_stepped ? TH_STEPPED_KEY_TOLERANCE / 2 : 0;
    *stretch += f > (*stretch)->last_frame;
    return th_frames_ticks(compiled_clip, *stretch, f + late);
}

bool th_frame_writer_init(th_frame_writer *writer, const th_compiled_model *compiled,
                          const th_compiled_clip *compiled_clip, const void *first, th_exact_cursor *cursors, void *out)
{
    assert(writer && compiled && compiled_clip && cursors && out);
    assert(compiled_clip->interval_count > 0);
    assert((uintptr_t)out % 16 == 0);
    assert(compiled_clip->stretch_count == 1 || !(is_cubic(&compiled->program) || compiled_clip->is_stepped));
    const size_t numbers = frame_numbers(compiled);
    *writer = (th_frame_writer){.compiled = compiled,
                                .compiled_clip = compiled_clip,
                                .cursors = cursors,
                                .stretch = compiled_clip->stretches,
                                .numbers = malloc(3 * numbers * sizeof(float) + 1),
                                .weights = malloc(compiled->model->weight_count * sizeof(double) + 1),
                                .out = out};
    if (!writer->numbers || !writer->weights)
        return false;
    writer->now = writer->numbers;
    writer->before = writer->now + numbers;
    writer->beyond = writer->before + numbers;
    /* Signs start from the rest pose, so that all clips have similar ranges. */
    if (first)
        load_frame(compiled, first, writer->before);
    else
        write_frame(compiled, NULL, 0, NULL, cursors, writer->weights, writer->before);
    return true;
}

void th_frame_writer_fini(th_frame_writer *writer)
{
    free(writer->numbers);
    free(writer->weights);
}

static void write_next(th_frame_writer *w)
{
    const th_compiled_model *compiled = w->compiled;
    const size_t bytes = compiled->program.frame_bytes;
    const bool cubic = is_cubic(&compiled->program);
    const uint32_t f = w->written++;
    char *at = w->out + (f + (size_t)cubic) * bytes;
    write_frame(compiled, w->compiled_clip->clip, frame_ticks(w->compiled_clip, &w->stretch, f), w->before, w->cursors,
                w->weights, w->now);
    store_frame(compiled, w->now, at);
    if (cubic && f == 1)
        store_beyond(compiled, w->before, w->now, w->beyond, w->out);
    if (cubic && f == w->compiled_clip->interval_count)
        store_beyond(compiled, w->now, w->before, w->beyond, at + bytes);
    float *swap = w->now;
    w->now = w->before;
    w->before = swap;
}

uint32_t th_frame_writer_reach(th_frame_writer *writer, uint32_t interval)
{
    assert(writer && interval < writer->compiled_clip->interval_count);
    const uint32_t before = writer->written, all = writer->compiled_clip->interval_count + 1;
    const uint32_t needed = interval + (is_cubic(&writer->compiled->program) ? 3 : 2);
    while (writer->written < needed && writer->written < all)
        write_next(writer);
    return writer->written - before;
}

/* ---- ranges ---- */

enum { JOINT_KEYS = 3 };

typedef struct joint_keys {
    float numbers[JOINT_KEYS * TH_KEY];
} joint_keys;

/* The range of a joint's keys over the clips seen so far. */
typedef struct extremes {
    const th_compiled_model *compiled;
    const th_compiled_track *track;
    const th_channel *channel;
    th_exact_cursor cursor; /* of the channel */
    th_key_range *ranges;   /* base: minimum so far; span: maximum so far */
    joint_keys now, rest;
    size_t count;
    int64_t *budget;
} extremes;

static void add_keys(extremes *x, const joint_keys *keys)
{
    for (size_t i = 0; i < x->count; i++) {
        th_key_range *range = &x->ranges[i / TH_KEY];
        range->base[i % TH_KEY] = fminf(range->base[i % TH_KEY], keys->numbers[i]);
        range->span[i % TH_KEY] = fmaxf(range->span[i % TH_KEY], keys->numbers[i]);
    }
}

static void add_moment(extremes *x, double ticks)
{
    th_trs trs;
    const joint_keys before = x->now;
    th_exact_cursor_channel(&x->cursor, x->channel, ticks, x->compiled->interpolation, &trs);
    write_keys(x->track, &trs, before.numbers, x->now.numbers);
    add_keys(x, &x->now);
    --*x->budget;
}

/* Adds the keys beyond an end of a cubic curve, as if it were compiled on the grid of this track. */
static void add_beyond(extremes *x, double end, double inner)
{
    joint_keys beyond;
    if (!is_cubic(&x->compiled->program))
        return;
    add_moment(x, end);
    const joint_keys last = x->now;
    add_moment(x, inner);
    for (size_t i = 0; i < x->count; i++)
        beyond.numbers[i] = 2 * last.numbers[i] - x->now.numbers[i];
    add_keys(x, &beyond);
    x->now = last;
}

/* Adds the keys, and between keys the extremes where the curve may leave their range. */
static void add_track(extremes *x, const th_track *track, bool bends, double duration)
{
    assert(track->key_count > 0);
    const bool cubic = is_cubic(&x->compiled->program) || track->tangents;
    const int parts = cubic ? 16 : bends ? 4 : 1;
    const uint32_t last = track->key_count - 1;
    x->now = x->rest;
    add_moment(x, 0);
    add_beyond(x, 0, track->times[last > 0 && !(track->times[0] > 0)]);
    for (uint32_t k = 0; k <= last && *x->budget > 0; k++) {
        const double time = track->times[k], next = track->times[k < last ? k + 1 : k];
        for (int part = 0; part < parts; part++)
            add_moment(x, time + (next - time) * part / parts);
    }
    add_beyond(x, duration, track->times[last > 0 && !(track->times[last] < duration) ? last - 1 : last]);
}

static void begin_joint(extremes *x, const th_compiled_track *track, th_key_range *ranges)
{
    x->track = track;
    x->ranges = ranges;
    x->count = (size_t)(write_keys(track, &track->rest, NULL, x->rest.numbers) - x->rest.numbers);
    assert(x->count > 0 && x->count <= JOINT_KEYS * TH_KEY && x->count % TH_KEY == 0);
}

static void add_clip(extremes *x, const th_clip *clip, th_key_range *ranges)
{
    const th_channel *channel = clip->channels, *end = channel + clip->channel_count;
    for (uint32_t m = 0; m < x->compiled->track_count; m++) {
        begin_joint(x, &x->compiled->tracks[m], ranges);
        ranges += x->count / TH_KEY;
        while (channel != end && channel->joint < x->track->joint)
            channel++;
        if (channel == end || channel->joint != x->track->joint)
            continue;
        x->channel = channel;
        th_exact_cursors_reset(&x->cursor, 1);
        add_track(x, &channel->translation, false, clip->duration_ticks);
        add_track(x, &channel->rotation, true, clip->duration_ticks);
        add_track(x, &channel->scale, false, clip->duration_ticks);
    }
}

/* Returns the first range that is no joint's. */
static th_key_range *begin_ranges(extremes *x, th_key_range *ranges)
{
    for (uint32_t m = 0; m < x->compiled->track_count; m++) {
        begin_joint(x, &x->compiled->tracks[m], ranges);
        ranges += x->count / TH_KEY;
        for (size_t i = 0; i < x->count; i++)
            x->ranges[i / TH_KEY].base[i % TH_KEY] = x->ranges[i / TH_KEY].span[i % TH_KEY] = x->rest.numbers[i];
    }
    return ranges;
}

bool th_frames_find_ranges(th_compiled_model *compiled, int64_t *budget)
{
    assert(compiled && budget);
    assert(compiled->program.keys == TH_KEYS_16 && !compiled->program.ranges);
    const float steps = 65000; /* of 65,535: the rest is a margin for curves that leave the sampled range */
    const size_t count = compiled->program.frame_bytes / th_keys_bytes(TH_KEYS_16);
    th_key_range *ranges = th_arena_new(compiled->arena, th_key_range, count);
    extremes x = {.compiled = compiled, .budget = budget};
    if (!ranges)
        return false;
    compiled->program.ranges = ranges;
    th_weights_find_ranges(compiled, begin_ranges(&x, ranges), budget);
    for (uint32_t c = 0; *budget > 0 && c < compiled->model->clip_count; c++)
        add_clip(&x, &compiled->model->clips[c], ranges);
    for (size_t i = 0; i < count * TH_KEY; i++) {
        float *base = &ranges[i / TH_KEY].base[i % TH_KEY], *span = &ranges[i / TH_KEY].span[i % TH_KEY];
        const float least = *base, most = *span;
        *base = (least + most) / 2;
        *span = (most - least) / steps;
        ranges[i / TH_KEY].share_span[i % TH_KEY] = -*span / TH_SHARES;
    }
    return true;
}
