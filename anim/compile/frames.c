#include "frames.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

/* Writes the keys of one joint. before: earlier keys of the same joint, or NULL; rotations take the nearer sign. */
static void write_keys(const th_compiled_track *track, const th_trs *trs, const float *before, float *out)
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
        *out = 0;
    }
}

/* before: a frame before it; NULL: none. cursors: of the clip's channels. weights: scratch for those of the model. */
static void write_frame(const th_compiled_model *compiled, const th_clip *clip, double ticks, const float *before,
                        th_exact_cursor *cursors, double *weights, float *out)
{
    const th_channel *channel = clip ? clip->channels : NULL;
    const th_channel *end = clip ? channel + clip->channel_count : NULL;
    for (uint32_t m = 0; m < compiled->track_count; m++) {
        const th_compiled_track *track = &compiled->tracks[m];
        const size_t numbers = TH_KEY * th_joint_keys(track->flags);
        while (channel != end && channel->joint < track->joint)
            channel++;
        const bool moves = channel != end && channel->joint == track->joint;
        th_trs trs = track->rest;
        if (moves) {
            th_exact_cursor_channel(&cursors[channel - clip->channels], channel, ticks, compiled->interpolation, &trs);
            th_channel_take_signs(channel, track->rest.scale, &trs);
        }
        if (moves || !before)
            write_keys(track, &trs, before, out);
        else
            memcpy(out, before, numbers * sizeof *out);
        before = before ? before + numbers : NULL;
        out += numbers;
    }
    if (compiled->weight_entry_count > 0)
        th_exact_weights(compiled->model, clip, ticks, compiled->interpolation, weights);
    for (uint32_t e = 0; e < compiled->weight_entry_count; e++)
        for (uint32_t i = 0; i < TH_ENTRY; i++) {
            const uint32_t w = compiled->weight_entries[e] * TH_ENTRY + i;
            *out++ = w < compiled->model->weight_count ? (float)weights[w] : 0;
        }
}

/* ---- frames ---- */

/* 16 bits are clamped to the range. The compiler measures the error that this causes. */
static void store_frame(const th_compiled_model *compiled, const float *frame, char *out)
{
    if (compiled->program.keys == TH_KEYS_32) {
        memcpy(out, frame, compiled->program.frame_bytes);
        return;
    }
    for (size_t i = 0; i < th_frame_numbers(&compiled->program); i++) {
        const th_key_range *range = &compiled->program.ranges[i / TH_KEY];
        const float base = range->base[i % TH_KEY], span = range->span[i % TH_KEY];
        const double n = span > 0 ? round(((double)frame[i] - (double)base) / (double)span) : 0;
        const int16_t stored = (int16_t)fmax(-32767, fmin(32767, n));
        memcpy(out + i * sizeof stored, &stored, sizeof stored);
    }
}

/* Writes the frame beyond the end of a cubic curve that gives the curve the slope of its last interval there. */
static void store_beyond(const th_compiled_model *compiled, const float *last, const float *before, float *frame,
                         char *out)
{
    for (size_t i = 0; i < th_frame_numbers(&compiled->program); i++)
        frame[i] = 2 * last[i] - before[i];
    store_frame(compiled, frame, out);
}

double th_frames_ticks(const th_compiled_clip *compiled_clip, const th_stretch *stretch, double frame)
{
    assert(compiled_clip && stretch);
    const double duration = compiled_clip->clip ? compiled_clip->clip->duration_ticks : 0;
    const double rate = compiled_clip->is_stepped ? compiled_clip->interval_count : stretch->rate;
    return fmin(duration, stretch->begin * duration + duration * (frame - stretch->first_frame) / rate);
}

void th_frame_writer_begin(th_frame_writer *writer, const void *first)
{
    assert(writer && writer->compiled && writer->compiled_clip && writer->cursors && writer->numbers && writer->out);
    const th_compiled_clip *compiled_clip = writer->compiled_clip;
    const th_program *program = &writer->compiled->program;
    const size_t numbers = th_frame_numbers(program);
    assert(compiled_clip->interval_count > 0);
    assert((uintptr_t)writer->out % 16 == 0);
    assert(compiled_clip->stretch_count == 1 || !(th_is_cubic(program) || compiled_clip->is_stepped));
    writer->stretch = compiled_clip->stretches;
    writer->now = writer->numbers;
    writer->before = writer->now + numbers;
    writer->beyond = writer->before + numbers;
    writer->written = 0;
    /* Signs start from the rest pose, so that all clips have similar ranges. */
    if (!first)
        write_frame(writer->compiled, NULL, 0, NULL, writer->cursors, writer->weights, writer->before);
    else if (program->keys == TH_KEYS_32)
        memcpy(writer->before, first, program->frame_bytes);
    for (size_t i = 0; first && program->keys == TH_KEYS_16 && i < numbers; i++) {
        const th_key_range *range = &program->ranges[i / TH_KEY];
        int16_t n;
        memcpy(&n, (const char *)first + i * sizeof n, sizeof n);
        writer->before[i] = range->base[i % TH_KEY] + range->span[i % TH_KEY] * (float)n;
    }
}

uint32_t th_frame_writer_reach(th_frame_writer *w, uint32_t interval)
{
    assert(w && interval < w->compiled_clip->interval_count);
    const th_compiled_model *compiled = w->compiled;
    const th_compiled_clip *compiled_clip = w->compiled_clip;
    const size_t bytes = compiled->program.frame_bytes;
    const bool cubic = th_is_cubic(&compiled->program);
    const double late = compiled_clip->is_stepped ? TH_STEPPED_KEY_TOLERANCE / 2 : 0;
    const uint32_t written = w->written, needed = interval + (cubic ? 3 : 2);
    while (w->written < needed && w->written < compiled_clip->interval_count + 1) {
        const uint32_t f = w->written++;
        char *at = w->out + (f + (size_t)cubic) * bytes;
        w->stretch += f > w->stretch->last_frame;
        write_frame(compiled, compiled_clip->clip, th_frames_ticks(compiled_clip, w->stretch, f + late), w->before,
                    w->cursors, w->weights, w->now);
        store_frame(compiled, w->now, at);
        if (cubic && f == 1)
            store_beyond(compiled, w->before, w->now, w->beyond, w->out);
        if (cubic && f == compiled_clip->interval_count)
            store_beyond(compiled, w->now, w->before, w->beyond, at + bytes);
        float *swap = w->now;
        w->now = w->before;
        w->before = swap;
    }
    return w->written - written;
}

/* ---- curves between keys ---- */

uint32_t th_channel_cost(const th_channel *channel)
{
    assert(channel);
    const th_transform_curves *c = channel->curves;
    if (!c)
        return 1;
    uint64_t layers = c->layer_count;
    for (const th_transform_curves *from = c->scaled_by; from; from = from->scale_from)
        layers += 1 + (uint64_t)from->layer_count;
    for (const th_transform_curves *from = c->scale_from; from; from = from->scale_from)
        layers += 1 + (uint64_t)from->layer_count;
    return layers > 1 ? (uint32_t)fmin((double)layers, UINT32_MAX / 2) : 1;
}

bool th_curves_bend(const th_transform_curves *c, uint32_t first, double tolerance)
{
    assert(c && first < TH_TRANSFORM_CURVES);
    if (c->part != TH_CURVE_WHOLE || c->scaled_by)
        return true;
    tolerance /= first == TH_CURVE_TRANSLATION ? c->frame.scale[0] : 1;
    for (int i = 0; i < 3; i++) /* what turns or grows about a pivot is carried along */
        if (first == TH_CURVE_TRANSLATION &&
            (c->rotation_pivot[i] != 0 || c->scaling_offset[i] != 0 || c->scaling_pivot[i] != 0))
            return true;
    for (uint32_t l = 0; l < c->layer_count; l++)
        for (uint32_t i = first; i < first + 3; i++) {
            const th_curve *curve = &c->layers[l].curves[i];
            if (curve->key_count > 0 && c->layers[l].weight.key_count > 0)
                return true;
            for (uint32_t k = 0; k + 1 < curve->key_count; k++) {
                const th_curve_piece *p = &curve->pieces[k];
                const double from = (double)curve->values[k], to = (double)curve->values[k + 1];
                if (fabs(to - from) > tolerance || (!p->holds && (fabs((double)p->leave_value - from) > tolerance ||
                                                                  fabs((double)p->arrive_value - from) > tolerance)))
                    return true;
            }
        }
    return false;
}

/* Into how many parts a piece is divided. The most is a prime, so that no number of turns is one each. */
static uint32_t turn_parts(const th_curve *curve, uint32_t k)
{
    const th_curve_piece *p = &curve->pieces[k];
    if (p->holds)
        return 1;
    const double from = (double)curve->values[k], to = (double)curve->values[k + 1], leave = (double)p->leave_value,
                 arrive = (double)p->arrive_value;
    const double turn = fabs(leave - from) + fabs(arrive - leave) + fabs(to - arrive); /* at least */
    return turn > M_PI_2 ? (uint32_t)fmin(ceil(turn / (M_PI / 8)), 1021) : 1;
}

void th_each_turn(const th_channel *channel, double duration_ticks, void (*fn)(void *ctx, double ticks), void *ctx)
{
    assert(channel && fn);
    const th_transform_curves *c = channel->curves;
    uint32_t left = 1u << 18;
    for (uint32_t l = 0; c && l < c->layer_count; l++)
        for (uint32_t i = TH_CURVE_ANGLES; i < TH_CURVE_SCALE; i++) {
            const th_curve *curve = &c->layers[l].curves[i];
            for (uint32_t k = 0; k + 1 < curve->key_count; k++) {
                const uint32_t parts = turn_parts(curve, k);
                const double begin = curve->times[k], length = curve->times[k + 1] - begin;
                for (uint32_t p = 1; p < parts && left > 0; p++) {
                    const double ticks = begin + length * p / parts;
                    if (ticks > 0 && ticks < duration_ticks) {
                        fn(ctx, ticks);
                        left--;
                    }
                }
            }
        }
}

/* ---- ranges ---- */

typedef struct numbers {
    double at[3 * TH_KEY];
} numbers;

/* The range of some numbers of a frame, those of a joint or one weight, over the moments of a clip. */
typedef struct extremes {
    const th_compiled_model *compiled;
    const th_compiled_track *track; /* of a joint, */
    const th_channel *channel;
    th_exact_cursor cursor;        /* of the channel */
    const th_weight_track *weight; /* or this one */
    double duration;
    th_key_range *ranges; /* of all; base: minimum so far; span: maximum so far */
    size_t first, count;  /* of the numbers */
    numbers now, rest;
    int64_t *budget;
} extremes;

static void add_numbers(extremes *x, const numbers *added)
{
    for (size_t i = 0; i < x->count; i++) {
        const size_t n = x->first + i;
        float *base = &x->ranges[n / TH_KEY].base[n % TH_KEY], *span = &x->ranges[n / TH_KEY].span[n % TH_KEY];
        *base = fminf(*base, (float)added->at[i]);
        *span = fmaxf(*span, (float)added->at[i]);
    }
}

static void add_moment(extremes *x, double ticks)
{
    if (x->weight) {
        x->now.at[0] = th_exact_weight(x->weight, ticks, x->compiled->interpolation);
    } else {
        float before[3 * TH_KEY], now[3 * TH_KEY];
        th_trs trs;
        for (size_t i = 0; i < 3 * TH_KEY; i++)
            before[i] = (float)x->now.at[i];
        th_exact_cursor_channel(&x->cursor, x->channel, ticks, x->compiled->interpolation, &trs);
        th_channel_take_signs(x->channel, x->track->rest.scale, &trs);
        write_keys(x->track, &trs, before, now);
        for (size_t i = 0; i < x->count; i++)
            x->now.at[i] = (double)now[i];
    }
    add_numbers(x, &x->now);
    *x->budget -= x->weight ? 1 : th_channel_cost(x->channel);
}

/* Adds what is beyond an end of a cubic curve, as if it were compiled on the grid of this track. */
static void add_beyond(extremes *x, double end, double inner)
{
    numbers beyond;
    if (!th_is_cubic(&x->compiled->program))
        return;
    add_moment(x, end);
    const numbers last = x->now;
    add_moment(x, inner);
    for (size_t i = 0; i < x->count; i++)
        beyond.at[i] = 2 * last.at[i] - x->now.at[i];
    add_numbers(x, &beyond);
    x->now = last;
}

/* For th_each_turn. */
static void add_turn(void *ctx, double ticks)
{
    extremes *x = ctx;
    if (*x->budget > 0)
        add_moment(x, ticks);
}

/* Adds the keys, and between keys the extremes where the curve may leave their range. */
static void add_track(extremes *x, const th_track *track, bool bends)
{
    assert(track->key_count > 0);
    const bool curves = x->weight ? x->weight->curves != NULL : x->channel->curves != NULL;
    const bool cubic = th_is_cubic(&x->compiled->program) || track->tangents || curves;
    const int parts = cubic ? 16 : bends ? 4 : 1;
    const uint32_t last = track->key_count - 1;
    x->now = x->rest;
    add_moment(x, 0);
    add_beyond(x, 0, track->times[last > 0 && !(track->times[0] > 0)]);
    for (uint32_t k = 0; k <= last && *x->budget > 0; k++) {
        const double time = th_exact_key_ticks(track, k), next = track->times[k < last ? k + 1 : k];
        for (int part = 0; part < parts; part++)
            add_moment(x, time + (next - time) * part / parts);
    }
    add_beyond(x, x->duration, track->times[last > 0 && !(track->times[last] < x->duration) ? last - 1 : last]);
}

bool th_frames_find_ranges(th_compiled_model *compiled, int64_t *budget)
{
    assert(compiled && budget);
    assert(compiled->program.keys == TH_KEYS_16 && !compiled->program.ranges);
    const th_model *model = compiled->model;
    const float steps = 65000; /* of 65,535: the rest is a margin for curves that leave the sampled range */
    const size_t count = th_frame_numbers(&compiled->program);
    th_key_range *ranges = th_arena_new(compiled->arena, th_key_range, count / TH_KEY);
    float *rest = malloc(count * sizeof *rest + 1);
    double *weights = malloc(model->weight_count * sizeof *weights + 1);
    const bool ok = ranges && rest && weights;
    if (ok)
        write_frame(compiled, NULL, 0, NULL, NULL, weights, rest);
    for (size_t i = 0; ok && i < count; i++)
        ranges[i / TH_KEY].base[i % TH_KEY] = ranges[i / TH_KEY].span[i % TH_KEY] = rest[i];
    for (uint32_t c = 0; ok && *budget > 0 && c < model->clip_count; c++) {
        const th_clip *clip = &model->clips[c];
        const th_channel *channel = clip->channels, *end = channel + clip->channel_count;
        extremes x = {.compiled = compiled, .duration = clip->duration_ticks, .ranges = ranges, .budget = budget};
        for (uint32_t m = 0; m < compiled->track_count; m++, x.first += x.count) {
            x.track = &compiled->tracks[m];
            x.count = TH_KEY * th_joint_keys(x.track->flags);
            while (channel != end && channel->joint < x.track->joint)
                channel++;
            if (channel == end || channel->joint != x.track->joint)
                continue;
            x.channel = channel;
            th_exact_cursors_reset(&x.cursor, 1);
            for (size_t i = 0; i < x.count; i++)
                x.rest.at[i] = (double)rest[x.first + i];
            add_track(&x, &channel->translation, false);
            add_track(&x, &channel->rotation, true);
            add_track(&x, &channel->scale, false);
            th_each_turn(channel, clip->duration_ticks, add_turn, &x);
        }
        const size_t joints = x.first;
        for (uint32_t t = 0, e = 0; *budget > 0 && t < clip->weight_track_count; t++) {
            x.weight = &clip->weight_tracks[t];
            while (e < compiled->weight_entry_count && compiled->weight_entries[e] < x.weight->weight / TH_ENTRY)
                e++;
            if (e == compiled->weight_entry_count || compiled->weight_entries[e] != x.weight->weight / TH_ENTRY)
                continue; /* no clip moves a weight of its entry */
            x.first = joints + e * TH_ENTRY + x.weight->weight % TH_ENTRY;
            x.count = 1;
            add_track(&x, &x.weight->track, false);
        }
    }
    for (size_t i = 0; ok && i < count; i++) {
        float *base = &ranges[i / TH_KEY].base[i % TH_KEY], *span = &ranges[i / TH_KEY].span[i % TH_KEY];
        const float least = *base, most = *span;
        *base = (least + most) / 2;
        *span = (most - least) / steps;
        ranges[i / TH_KEY].share_span[i % TH_KEY] = -*span / TH_SHARES;
    }
    compiled->program.ranges = ranges;
    free(rest);
    free(weights);
    return ok;
}
