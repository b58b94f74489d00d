/* Three features of th_clip that a glTF animation lacks, and what is written instead (section 3.11):
 *
 * - Keys before 0 or after the duration. Time wraps into [0, duration), so such a key only shapes the curve to its
 *   neighbour inside. The track is cut there: a key sampled at the cut replaces it, and the motion stays the same.
 *
 * - A duration after the last key. An animation lasts until its last key. One track gets a copy of its last key at the
 *   duration.
 *
 * - Keys closer than floats can represent. Times become floats in seconds, and must ascend. A key that would coincide
 *   with the next one moves to the float before: a step is two keys a moment apart, and the second one holds from that
 *   time on.
 *
 * spline.c cuts splines, so here they have no keys outside.
 *
 * A track of one key that equals the node's own property is omitted: glTF then uses the node's. */
#include "clip.h"

#include "spline.h"
#include "weights.h"

#include <throng/anim/exact.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest rounding error of a number of magnitude 1 computed from a few floats. */
#define ROUNDING 5e-7

typedef enum target_path { TRANSLATION, ROTATION, SCALE, PATH_COUNT } target_path;

static const struct {
    const char *name, *type;
    uint32_t width;
} properties[PATH_COUNT] = {
    [TRANSLATION] = {"translation", "VEC3", 3},
    [ROTATION] = {"rotation", "VEC4", 4},
    [SCALE] = {"scale", "VEC3", 3},
};

static const th_track *track_of(const th_channel *channel, target_path path)
{
    return path == TRANSLATION ? &channel->translation : path == ROTATION ? &channel->rotation : &channel->scale;
}

static const double *part_of(const th_trs *trs, target_path path)
{
    return path == TRANSLATION ? trs->translation : path == ROTATION ? trs->rotation : trs->scale;
}

/* ---- which keys ---- */

/* Keys [first, end) of a track lie within the clip. head: a key sampled at 0 goes before them; tail: one sampled at the
 * duration goes after them. */
typedef struct cut {
    uint32_t first, end;
    bool head, tail;
    double last; /* time of the last of these keys, in ticks */
} cut;

static cut cut_track(const th_track *track, double duration)
{
    assert(track->key_count > 0 && duration >= 0);
    cut c = {.first = 0, .end = track->key_count, .last = 0};
    while (c.first < c.end && track->times[c.first] < 0)
        c.first++;
    while (c.end > c.first && track->times[c.end - 1] > duration)
        c.end--;
    c.head = c.first > 0 && (c.first == c.end || track->times[c.first] > 0);
    if (c.first < c.end)
        c.last = track->times[c.end - 1];
    c.tail = c.end < track->key_count && (c.last < duration || (c.first == c.end && !c.head));
    if (c.tail)
        c.last = duration;
    return c;
}

static uint32_t key_count(const cut *c)
{
    assert(c->first <= c->end);
    return c->end - c->first + c->head + c->tail;
}

static bool equals_rest(const float *value, target_path path, const th_trs *rest)
{
    const double *r = part_of(rest, path);
    double magnitude = 1, difference = 0, opposite = 0; /* opposite: q and -q are the same rotation */
    for (uint32_t i = 0; i < properties[path].width; i++) {
        magnitude = fmax(magnitude, fabs(r[i]));
        difference = fmax(difference, fabs((double)value[i] - r[i]));
        opposite = fmax(opposite, fabs((double)value[i] + r[i]));
    }
    if (path == ROTATION)
        difference = fmin(difference, opposite);
    return difference <= ROUNDING * magnitude;
}

static bool left_out(const th_channel *channel, target_path path, const th_trs *rest)
{
    const th_track *track = track_of(channel, path);
    return track->key_count == 1 && equals_rest(track->values, path, &rest[channel->joint]);
}

/* Time of the last written key, in ticks; -1 if there is none. */
static double last_key(const th_clip *clip, const th_trs *rest)
{
    double last = -1;
    for (uint32_t c = 0; c < clip->channel_count; c++)
        for (target_path p = 0; p < PATH_COUNT; p++)
            if (!left_out(&clip->channels[c], p, rest))
                last = fmax(last, cut_track(track_of(&clip->channels[c], p), clip->duration_ticks).last);
    return last;
}

/* ---- writing ---- */

typedef struct writer {
    th_glb *glb;
    const th_clip *clip;
    json_t *samplers, *channels;
    th_glb_accessor times; /* accessor of the previous sampler's times, because the next one usually has the same */
    uint32_t input;        /* index of that accessor */
} writer;

static void put_time(writer *w, double ticks)
{
    th_glb_put(w->glb, &(float){(float)(ticks / w->clip->ticks_per_second)}, sizeof(float));
}

void th_export_spread(float *times, uint32_t count)
{
    assert(count > 0);
    for (uint32_t k = count - 1; k > 0; k--)
        times[k - 1] = fminf(times[k - 1], nextafterf(times[k], -INFINITY));
    float least = 0;
    for (uint32_t k = 0; k < count; k++) {
        times[k] = fmaxf(times[k], least);
        least = nextafterf(times[k], INFINITY);
    }
}

static bool same_bytes(const th_glb *glb, const th_glb_accessor *a, const th_glb_accessor *b)
{
    return a->count == b->count && memcmp(glb->bytes + a->start, glb->bytes + b->start, a->count * sizeof(float)) == 0;
}

static uint32_t put_times(writer *w, const th_track *track, const cut *c)
{
    assert(c->end <= track->key_count && key_count(c) > 0);
    th_glb_accessor times = {.view = w->times.view,
                             .start = w->glb->byte_count,
                             .component = TH_GLB_F32,
                             .type = "SCALAR",
                             .count = key_count(c),
                             .extent = 1};
    if (c->head)
        put_time(w, 0);
    for (uint32_t k = c->first; k < c->end; k++)
        put_time(w, track->times[k]);
    if (c->tail)
        put_time(w, w->clip->duration_ticks);
    if (w->glb->result != TH_OK)
        return 0;
    float *seconds = (float *)(w->glb->bytes + times.start);
    th_export_spread(seconds, times.count);

    if (same_bytes(w->glb, &times, &w->times)) {
        w->glb->byte_count = times.start;
        return w->input;
    }
    w->times = times;
    times.min = &(double){(double)seconds[0]};
    times.max = &(double){(double)seconds[times.count - 1]};
    return w->input = th_glb_add_accessor(w->glb, &times);
}

static void put_sample(writer *w, const th_channel *channel, target_path path, double ticks)
{
    th_trs trs;
    th_exact_channel(channel, ticks, TH_INTERPOLATION_AUTHORED, &trs);
    for (uint32_t i = 0; i < properties[path].width; i++)
        th_glb_put(w->glb, &(float){(float)part_of(&trs, path)[i]}, sizeof(float));
}

static void put_numbers(writer *w, const float *numbers, size_t count)
{
    static const float zeros[4];
    th_glb_put(w->glb, numbers ? numbers : zeros, count * sizeof *numbers);
}

/* A key of a spline is its in-tangent, value and out-tangent, per second. Unused tangents are 0. */
static void put_spline(writer *w, const th_track *track, size_t width, bool hold)
{
    assert(track->tangents && track->key_count >= 2);
    for (uint32_t k = 0; k < track->key_count; k++) {
        const float *in = track->tangents + 2 * k * width;
        float seconds[2][4];
        for (size_t i = 0; i < 2 * width; i++)
            seconds[i / width][i % width] = (float)((double)in[i] * w->clip->ticks_per_second);
        put_numbers(w, k > 0 ? seconds[0] : NULL, width);
        put_numbers(w, track->values + k * width, width);
        put_numbers(w, k + 1 < track->key_count ? seconds[1] : NULL, width);
    }
    if (hold) {
        put_numbers(w, NULL, width);
        put_numbers(w, track->values + (track->key_count - 1) * width, width);
        put_numbers(w, NULL, width);
    }
}

static uint32_t put_values(writer *w, const th_channel *channel, target_path path, const cut *c)
{
    const th_track *track = track_of(channel, path);
    size_t width = properties[path].width;
    th_glb_accessor values = {.view = w->times.view,
                              .start = w->glb->byte_count,
                              .component = TH_GLB_F32,
                              .type = properties[path].type,
                              .count = key_count(c) * (track->tangents ? 3 : 1)};
    if (track->tangents) {
        put_spline(w, track, width, c->tail);
        return th_glb_add_accessor(w->glb, &values);
    }
    if (c->head)
        put_sample(w, channel, path, 0);
    th_glb_put(w->glb, track->values + c->first * width, (c->end - c->first) * width * sizeof(float));
    if (c->tail)
        put_sample(w, channel, path, w->clip->duration_ticks);
    return th_glb_add_accessor(w->glb, &values);
}

/* hold: repeats the last key at the duration. */
static void put_track(writer *w, const th_channel *channel, target_path path, bool hold)
{
    const th_track *track = track_of(channel, path);
    cut c = cut_track(track, w->clip->duration_ticks);
    c.tail |= hold;
    uint32_t input = put_times(w, track, &c);
    uint32_t output = put_values(w, channel, path, &c);
    json_int_t sampler = (json_int_t)json_array_size(w->samplers);
    json_t *json = json_pack("{s:I, s:I}", "input", (json_int_t)input, "output", (json_int_t)output);
    if (track->tangents || track->steps)
        th_glb_set(w->glb, json, "interpolation", json_string(track->steps ? "STEP" : "CUBICSPLINE"));
    th_glb_append(w->glb, w->samplers, json);
    th_glb_append(w->glb, w->channels,
                  json_pack("{s:I, s:{s:I, s:s}}", "sampler", sampler, "target", "node", (json_int_t)channel->joint,
                            "path", properties[path].name));
}

/* An animation needs a channel. If no track moves, this one holds the first joint at rest. */
static void put_stillness(writer *w, const th_trs *rest)
{
    float t[3], r[4], s[3];
    for (int i = 0; i < 4; i++)
        r[i] = (float)rest->rotation[i];
    for (int i = 0; i < 3; i++) {
        t[i] = (float)rest->translation[i];
        s[i] = (float)rest->scale[i];
    }
    const double zero = 0;
    th_channel channel = {.joint = 0,
                          .translation = {1, &zero, t, NULL, false},
                          .rotation = {1, &zero, r, NULL, false},
                          .scale = {1, &zero, s, NULL, false}};
    put_track(w, &channel, TRANSLATION, w->clip->duration_ticks > 0);
}

static void put_tracks(writer *w, const th_trs *rest)
{
    const double last = last_key(w->clip, rest), weights = th_export_last_weight(w->clip);
    bool hold = fmax(last, weights) < w->clip->duration_ticks;
    for (uint32_t c = 0; c < w->clip->channel_count; c++) {
        const th_channel *channel = &w->clip->channels[c];
        for (target_path p = 0; p < PATH_COUNT; p++) {
            if (left_out(channel, p, rest))
                continue;
            put_track(w, channel, p, hold);
            hold = false;
        }
    }
}

static void put_clip(th_glb *glb, const th_clip *clip, const th_export_nodes *nodes)
{
    writer w = {.glb = glb, .clip = clip, .samplers = json_array(), .channels = json_array()};
    w.times.view = th_glb_begin_view(glb, 0, TH_GLB_PLAIN);
    const th_animation animation = {clip, w.times.view, w.samplers, w.channels};
    const bool held = last_key(clip, nodes->rest) >= 0; /* a track of a joint lasts as long as the clip */
    put_tracks(&w, nodes->rest);
    th_export_weights(glb, nodes, &animation, !held && th_export_last_weight(clip) < clip->duration_ticks);
    if (json_array_size(w.channels) == 0)
        put_stillness(&w, nodes->rest);
    th_glb_end_view(glb);
    th_glb_add(
        glb, "animations",
        json_pack("{s:o, s:o, s:o}", "name", th_glb_text(clip->name), "samplers", w.samplers, "channels", w.channels));
}

/* ---- splines ---- */

static th_track *spline_of(th_channel *channel, target_path path)
{
    th_track *track = path == TRANSLATION ? &channel->translation
                      : path == ROTATION  ? &channel->rotation
                                          : &channel->scale;
    return track->tangents ? track : NULL;
}

static bool lies_within(const th_track *track, double duration)
{
    return track->times[0] >= 0 && track->times[track->key_count - 1] <= duration;
}

/* pieces: as many tracks as channels have; the caller frees those that were cut. */
static bool cut_splines(const th_clip *clip, th_channel *channels, th_track *pieces)
{
    bool ok = true;
    for (uint32_t c = 0; c < clip->channel_count; c++)
        for (target_path p = 0; ok && p < PATH_COUNT; p++) {
            th_track *track = spline_of(&channels[c], p), *piece = &pieces[c * PATH_COUNT + p];
            if (!track || lies_within(track, clip->duration_ticks))
                continue;
            ok = th_spline_cut(track, properties[p].width, clip->duration_ticks, piece);
            *track = *piece;
        }
    return ok;
}

void th_export_clip(th_glb *glb, const th_clip *clip, const th_export_nodes *nodes)
{
    assert(glb && clip && nodes);
    size_t count = clip->channel_count;
    th_channel *channels = calloc(count + 1, sizeof *channels);
    th_track *pieces = calloc(count * PATH_COUNT + 1, sizeof *pieces);
    th_clip within = *clip;
    within.channels = channels;
    if (channels && count > 0)
        memcpy(channels, clip->channels, count * sizeof *channels);
    if (channels && pieces && cut_splines(clip, channels, pieces))
        put_clip(glb, &within, nodes);
    else if (glb->result == TH_OK)
        glb->result = TH_ERR_MEMORY;
    for (size_t i = 0; pieces && i < count * PATH_COUNT; i++)
        th_spline_free(&pieces[i]);
    free(pieces);
    free(channels);
}
