/* The reference: authored keys, joints and layers in double precision, step by step as their headers define them. It
 * shares no code with the kernels, which are checked against it. */
#include "exact_cursor.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *th_interpolation_name(th_interpolation interpolation)
{
    static const char *const names[TH_INTERPOLATION_COUNT] = {"authored", "step", "nlerp", "slerp", "cubic"};
    return (unsigned)interpolation < TH_INTERPOLATION_COUNT ? names[interpolation] : "unknown";
}

double th_clip_ticks(const th_clip *clip, double time_s)
{
    if (!TH_VALID(clip && clip->ticks_per_second > 0))
        return 0;
    double duration = clip->duration_ticks;
    if (!(duration > 0))
        return 0;
    double ticks = time_s * clip->ticks_per_second;
    if (!(ticks >= 0 && ticks < duration)) {
        /* fmod is exact but ten times slower. This is off by one rounding of `ticks`, which is rounded already. */
        ticks -= floor(ticks / duration) * duration;
        if (!(ticks >= 0 && ticks < duration))
            ticks = 0;
    }
    return ticks;
}

/* Whether a key and the one before are a jump. */
static bool jumps_at(const th_track *track, uint32_t key)
{
    return key > 0 && key < track->key_count && track->times[key] == track->times[key - 1];
}

double th_exact_key_ticks(const th_track *track, uint32_t key)
{
    assert(track && key < track->key_count);
    return jumps_at(track, key + 1) ? nextafter(track->times[key], -HUGE_VAL) : track->times[key];
}

/* Index of the last key at or before `ticks`; 0 when all are later. near: a key to look around first, or
 * TH_NO_INDEX. */
static uint32_t find_key(const th_track *track, double ticks, uint32_t near)
{
    const double *times = track->times;
    uint32_t low = 0, high = track->key_count;
    if (near != TH_NO_INDEX) {
        low = near;
        high = near + 1;
        for (uint32_t step = 1; low > 0 && times[low] > ticks; step *= 2) {
            high = low;
            low -= step < low ? step : low;
        }
        for (uint32_t step = 1; high < track->key_count && times[high] <= ticks; step *= 2) {
            low = high;
            high += step < track->key_count - high ? step : track->key_count - high;
        }
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= ticks)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The keys around a time and the fraction of the way between them. Both are the same key at the ends and for steps. */
typedef struct interval {
    uint32_t from, to;
    double t;
} interval;

static interval find_interval(const th_track *track, double ticks, th_interpolation mode, uint32_t near)
{
    uint32_t key = find_key(track, ticks, near), next = key + 1;
    if (next >= track->key_count || ticks <= track->times[key] || mode == TH_INTERPOLATION_STEP)
        return (interval){key, key, 0};
    return (interval){key, next, (ticks - track->times[key]) / (track->times[next] - track->times[key])};
}

static void load(const th_track *track, uint32_t key, uint32_t width, double out[])
{
    for (uint32_t i = 0; i < width; i++)
        out[i] = (double)track->values[(size_t)key * width + i];
}

/* Normalises in double precision: a float quaternion has unit length only to float precision. */
static void load_rotation(const th_track *track, uint32_t key, double out[4])
{
    load(track, key, 4, out);
    th_quat_normalize(out);
}

/* ---- cubic ---- */

/* Hermite weights of, in this order, the interval's start, its end, and the tangents there, as change per interval. */
static void hermite(double t, double out[4])
{
    double t2 = t * t, t3 = t2 * t;
    out[0] = 2 * t3 - 3 * t2 + 1;
    out[1] = t3 - 2 * t2 + t;
    out[2] = 3 * t2 - 2 * t3;
    out[3] = t3 - t2;
}

/* Tangents are changes per tick, so they are multiplied by the interval's length. */
static void sample_spline(const th_track *track, interval at, uint32_t width, double out[])
{
    assert(track->key_count >= 2);
    double h[4], a[4], b[4], length = track->times[at.to] - track->times[at.from];
    const float *leave = track->tangents + (2 * (size_t)at.from + 1) * width;
    const float *arrive = track->tangents + 2 * (size_t)at.to * width;
    hermite(at.t, h);
    load(track, at.from, width, a);
    load(track, at.to, width, b);
    for (uint32_t i = 0; i < width; i++)
        out[i] = h[0] * a[i] + length * h[1] * (double)leave[i] + h[2] * b[i] + length * h[3] * (double)arrive[i];
}

static void turn_towards(const double neighbour[4], double q[4])
{
    double dot = q[0] * neighbour[0] + q[1] * neighbour[1] + q[2] * neighbour[2] + q[3] * neighbour[3];
    for (int i = 0; dot < 0 && i < 4; i++)
        q[i] = -q[i];
}

/* Shaped by four keys. At the ends of the track and at jumps the outer ones repeat the interval's own. */
static void sample_catmull_rom(const th_track *track, interval at, uint32_t width, double out[])
{
    if (at.from == at.to) {
        load(track, at.from, width, out);
        return;
    }
    const double *times = track->times;
    const uint32_t keys[4] = {at.from > 0 && !jumps_at(track, at.from) ? at.from - 1 : at.from, at.from, at.to,
                              at.to + 1 < track->key_count && !jumps_at(track, at.to + 1) ? at.to + 1 : at.to};
    double h[4], v[4][4], length = times[at.to] - times[at.from];
    hermite(at.t, h);
    for (int n = 0; n < 4; n++)
        (width == 4 ? load_rotation(track, keys[n], v[n]) : load(track, keys[n], width, v[n]));
    if (width == 4) {
        turn_towards(v[1], v[0]);
        turn_towards(v[1], v[2]);
        turn_towards(v[2], v[3]);
    }
    h[1] *= length / (times[at.to] - times[keys[0]]); /* at most 1, however close the keys are */
    h[3] *= length / (times[keys[3]] - times[at.from]);
    for (uint32_t i = 0; i < width; i++)
        out[i] = h[0] * v[1][i] + h[1] * (v[2][i] - v[0][i]) + h[2] * v[2][i] + h[3] * (v[3][i] - v[1][i]);
}

static void sample_cubic(const th_track *track, interval at, uint32_t width, double out[])
{
    (track->tangents ? sample_spline : sample_catmull_rom)(track, at, width, out);
}

/* ---- tracks ---- */

static th_interpolation mode_of(const th_track *track, th_interpolation interpolation)
{
    if (interpolation != TH_INTERPOLATION_AUTHORED)
        return interpolation;
    return track->tangents ? TH_INTERPOLATION_CUBIC : track->steps ? TH_INTERPOLATION_STEP : TH_INTERPOLATION_SLERP;
}

/* width: at most 3. *key: see th_exact_cursor. */
static void sample_vector(const th_track *track, double ticks, th_interpolation interpolation, uint32_t width,
                          uint32_t *key, double out[])
{
    const th_interpolation mode = mode_of(track, interpolation);
    interval at = find_interval(track, ticks, mode, *key);
    *key = at.from;
    if (mode == TH_INTERPOLATION_CUBIC) {
        sample_cubic(track, at, width, out);
        return;
    }
    double a[3], b[3];
    load(track, at.from, width, a);
    load(track, at.to, width, b);
    for (uint32_t i = 0; i < width; i++)
        out[i] = a[i] + at.t * (b[i] - a[i]);
}

/* Leaves the rotation in cursor->turned. */
static void sample_rotation(const th_track *track, double ticks, th_interpolation interpolation,
                            th_exact_cursor *cursor)
{
    const th_interpolation mode = mode_of(track, interpolation);
    const interval at = find_interval(track, ticks, mode, cursor->rotation);
    double *out = cursor->turned;
    if (at.from == cursor->rotation && at.t == cursor->t)
        return;
    cursor->rotation = at.from;
    cursor->t = at.t;
    if (mode == TH_INTERPOLATION_CUBIC) {
        sample_cubic(track, at, 4, out);
        if (!th_quat_normalize(out)) /* the curve passes through 0, which is no rotation: the previous key holds */
            load_rotation(track, at.from, out);
        return;
    }
    if (at.from == at.to) {
        load_rotation(track, at.from, out);
        th_quat_normalize(out); /* as at the end of an arc */
        return;
    }
    th_quat_arc *arc = &cursor->arc;
    const bool is_slerp = mode == TH_INTERPOLATION_SLERP;
    if (at.from != cursor->arc_key) {
        load_rotation(track, at.from, arc->from);
        load_rotation(track, at.to, arc->to);
        if (is_slerp)
            *arc = th_quat_arc_between(arc->from, arc->to);
        else
            turn_towards(arc->from, arc->to);
        cursor->arc_key = at.from;
    }
    if (is_slerp) {
        th_quat_arc_at(arc, at.t, out);
        return;
    }
    for (int i = 0; i < 4; i++)
        out[i] = arc->from[i] + at.t * (arc->to[i] - arc->from[i]);
    th_quat_normalize(out);
}

void th_exact_cursors_reset(th_exact_cursor *cursors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cursors[i].translation = cursors[i].rotation = cursors[i].scale = cursors[i].arc_key = TH_NO_INDEX;
}

void th_exact_cursor_channel(th_exact_cursor *cursor, const th_channel *channel, double ticks,
                             th_interpolation interpolation, th_trs *out)
{
    assert(cursor && channel && out);
    assert((unsigned)interpolation < TH_INTERPOLATION_COUNT);
    assert(channel->translation.key_count > 0 && channel->rotation.key_count > 0 && channel->scale.key_count > 0);
    const bool authored = channel->curves && interpolation == TH_INTERPOLATION_AUTHORED;
    const uint32_t keyed = authored ? channel->filled : TH_TRANSLATION | TH_ROTATION | TH_SCALE;
    if (authored)
        th_transform_curves_at(channel->curves, ticks, out);
    if (keyed & TH_TRANSLATION)
        sample_vector(&channel->translation, ticks, interpolation, 3, &cursor->translation, out->translation);
    if (keyed & TH_ROTATION) {
        sample_rotation(&channel->rotation, ticks, interpolation, cursor);
        memcpy(out->rotation, cursor->turned, sizeof out->rotation);
    }
    if (keyed & TH_SCALE)
        sample_vector(&channel->scale, ticks, interpolation, 3, &cursor->scale, out->scale);
}

void th_exact_channel(const th_channel *channel, double ticks, th_interpolation interpolation, th_trs *out)
{
    th_exact_cursor cursor;
    th_exact_cursors_reset(&cursor, 1);
    th_exact_cursor_channel(&cursor, channel, ticks, interpolation, out);
}

void th_exact_sample(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                     th_dmat34 *out_local)
{
    assert(model && out_local);
    assert(!clip || ((unsigned)interpolation < TH_INTERPOLATION_COUNT));
    const th_channel *channel = clip ? clip->channels : NULL;
    const th_channel *end = clip ? channel + clip->channel_count : NULL;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        if (channel != end && channel->joint == j) {
            th_trs trs;
            th_exact_channel(channel++, ticks, interpolation, &trs);
            out_local[j] = th_dmat34_from_trs(&trs);
        } else {
            out_local[j] = th_dmat34_from(model->joints[j].rest);
        }
    }
}

void th_exact_resolve(const th_model *model, const th_dmat34 *local, th_dmat34 *out)
{
    assert(model && local && out);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        out[j] = parent == TH_NO_INDEX ? local[j] : th_dmat34_mul(out[parent], local[j]);
    }
}

void th_exact_pose(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                   th_dmat34 *out)
{
    if (!TH_VALID_MODEL(model) || !TH_VALID(out && (!clip || (unsigned)interpolation < TH_INTERPOLATION_COUNT)))
        return;
    th_exact_sample(model, clip, ticks, interpolation, out);
    th_exact_resolve(model, out, out);
}

double th_exact_weight(const th_weight_track *track, double ticks, th_interpolation interpolation)
{
    assert(track && track->track.key_count > 0);
    assert((unsigned)interpolation < TH_INTERPOLATION_COUNT);
    if (track->curves && interpolation == TH_INTERPOLATION_AUTHORED)
        return th_weight_curves_at(track->curves, ticks);
    double value;
    uint32_t key = TH_NO_INDEX;
    sample_vector(&track->track, ticks, interpolation, 1, &key, &value);
    return value;
}

void th_exact_weights(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                      double *out)
{
    assert(model && (out || model->weight_count == 0));
    for (uint32_t w = 0; w < model->weight_count; w++)
        out[w] = (double)model->weights[w].rest;
    for (uint32_t t = 0; clip && t < clip->weight_track_count; t++)
        out[clip->weight_tracks[t].weight] = th_exact_weight(&clip->weight_tracks[t], ticks, interpolation);
}

void th_exact_palette(const th_model *model, const th_dmat34 *pose, th_dmat34 *out)
{
    if (!TH_VALID_MODEL(model) || !TH_VALID(pose && out && pose != out))
        return;
    for (uint32_t b = 0; b < model->bone_count; b++)
        out[b] = th_dmat34_mul(pose[model->bones[b].joint], th_dmat34_from(model->bones[b].inverse_bind));
}

/* ---- layers ---- */

const char *th_layer_mode_name(th_layer_mode mode)
{
    static const char *const names[TH_LAYER_MODE_COUNT] = {"override", "add", "add-rest"};
    return (unsigned)mode < TH_LAYER_MODE_COUNT ? names[mode] : "unknown";
}

void th_mask_from_joint(const th_model *model, uint32_t joint, float *weights)
{
    if (!TH_VALID_MODEL(model) || !TH_VALID(weights && joint < model->joint_count))
        return;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        weights[j] = j == joint || (j > joint && parent != TH_NO_INDEX && weights[parent] > 0) ? 1 : 0;
    }
}

static const th_clip *clip_of(const th_model *model, const th_layer *layer)
{
    assert(layer->clip == TH_REST_CLIP || layer->clip < model->clip_count);
    return layer->clip == TH_REST_CLIP ? NULL : &model->clips[layer->clip];
}

const char *th_layer_add_obstacle(const th_model *model, uint32_t clip, th_layer_mode mode)
{
    if (!TH_VALID_MODEL(model) || !TH_VALID(clip < model->clip_count) ||
        !TH_VALID(mode == TH_LAYER_ADD || mode == TH_LAYER_ADD_REST))
        return NULL;
    const th_clip *c = &model->clips[clip];
    for (uint32_t i = 0; i < c->channel_count; i++) {
        th_trs start = th_joint_rest(&model->joints[c->channels[i].joint], &c->channels[i]);
        if (mode == TH_LAYER_ADD)
            th_exact_channel(&c->channels[i], 0, TH_INTERPOLATION_AUTHORED, &start);
        if (start.scale[0] == 0 || start.scale[1] == 0 || start.scale[2] == 0)
            return model->joints[c->channels[i].joint].name;
    }
    return NULL;
}

/* Layers of a model that become one pose. */
typedef struct layered_pose {
    const th_model *model;
    const th_layer *layers;
    uint32_t count;
    th_interpolation interpolation;
} layered_pose;

/* A joint's transform in a layer. */
static th_trs transform_of(const layered_pose *p, uint32_t layer, const th_channel *channel, const th_trs *rest,
                           double ratio)
{
    th_trs out = *rest;
    const th_clip *clip = clip_of(p->model, &p->layers[layer]);
    if (channel) {
        th_exact_channel(channel, ratio * clip->duration_ticks, p->interpolation, &out);
        th_channel_take_signs(channel, rest->scale, &out);
    }
    th_quat_normalize(out.rotation);
    return out;
}

static void blend_transform(const th_trs *layer, double weight, th_trs *sum, double *total)
{
    const double *q = layer->rotation, *s = sum->rotation;
    const double sign = q[0] * s[0] + q[1] * s[1] + q[2] * s[2] + q[3] * s[3] < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++)
        sum->rotation[i] += weight * sign * layer->rotation[i];
    for (int i = 0; i < 3; i++) {
        sum->translation[i] += weight * layer->translation[i];
        sum->scale[i] += weight * layer->scale[i];
    }
    *total += weight;
}

static void add_transform(const th_trs *layer, const th_trs *start, double weight, th_trs *sum)
{
    const double *r = start->rotation, back[4] = {-r[0], -r[1], -r[2], r[3]};
    double d[4];
    th_quat_mul(back, layer->rotation, d);
    const double factor = d[3] < 0 ? -weight : weight;
    for (int i = 0; i < 4; i++)
        d[i] = factor * d[i] + (i == 3 ? 1 - weight : 0);
    th_quat_mul(sum->rotation, d, sum->rotation);
    th_quat_normalize(sum->rotation);
    for (int i = 0; i < 3; i++) {
        sum->translation[i] += weight * (layer->translation[i] - start->translation[i]);
        sum->scale[i] *= 1 + weight * (layer->scale[i] / start->scale[i] - 1);
    }
}

static double weight_of(const th_layer *layer, const th_mask *masks, uint32_t joint)
{
    return (double)layer->weight * (layer->mask == TH_NO_MASK ? 1 : (double)masks[layer->mask].weights[joint]);
}

static th_trs blend_joint(const layered_pose *p, const th_mask *masks, uint32_t joint, const th_trs rest,
                          const th_channel *const *channels)
{
    th_trs sum = {0};
    double total = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const th_trs trs = transform_of(p, i, channels[i], &rest, p->layers[i].ratio);
        if (p->layers[i].mode == TH_LAYER_OVERRIDE)
            blend_transform(&trs, weight_of(&p->layers[i], masks, joint), &sum, &total);
    }
    if (total < (double)TH_REST_WEIGHT)
        blend_transform(&rest, (double)TH_REST_WEIGHT - total, &sum, &total);
    th_quat_normalize(sum.rotation);
    for (int i = 0; i < 3; i++) {
        sum.translation[i] /= total;
        sum.scale[i] /= total;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->layers[i].mode == TH_LAYER_OVERRIDE)
            continue;
        const th_trs trs = transform_of(p, i, channels[i], &rest, p->layers[i].ratio);
        const th_trs start = transform_of(p, i, p->layers[i].mode == TH_LAYER_ADD ? channels[i] : NULL, &rest, 0);
        add_transform(&trs, &start, weight_of(&p->layers[i], masks, joint), &sum);
    }
    return sum;
}

static double morph_weight(const layered_pose *p, uint32_t layer, uint32_t weight, double ratio)
{
    const th_clip *clip = clip_of(p->model, &p->layers[layer]);
    for (uint32_t t = 0; clip && t < clip->weight_track_count; t++)
        if (clip->weight_tracks[t].weight == weight)
            return th_exact_weight(&clip->weight_tracks[t], ratio * clip->duration_ticks, p->interpolation);
    return (double)p->model->weights[weight].rest;
}

static double blend_morph_weight(const layered_pose *p, uint32_t weight)
{
    const double rest = (double)p->model->weights[weight].rest;
    double sum = 0, total = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const double w = p->layers[i].mode == TH_LAYER_OVERRIDE ? (double)p->layers[i].weight : 0;
        sum += w * morph_weight(p, i, weight, p->layers[i].ratio);
        total += w;
    }
    if (total < (double)TH_REST_WEIGHT) {
        sum += ((double)TH_REST_WEIGHT - total) * rest;
        total = (double)TH_REST_WEIGHT;
    }
    sum /= total;
    for (uint32_t i = 0; i < p->count; i++) {
        const th_layer *layer = &p->layers[i];
        const double start = layer->mode == TH_LAYER_ADD ? morph_weight(p, i, weight, 0) : rest;
        if (layer->mode != TH_LAYER_OVERRIDE)
            sum += (double)layer->weight * (morph_weight(p, i, weight, layer->ratio) - start);
    }
    return sum;
}

static bool are_layers_of(const th_model *model, const th_layer *layers, uint32_t count, const th_mask *masks,
                          uint32_t mask_count)
{
    if (count > TH_MAX_LAYERS || (count > 0 && !layers) || (mask_count > 0 && !masks))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const th_layer *l = &layers[i];
        if ((l->clip != TH_REST_CLIP && l->clip >= model->clip_count) || l->mode >= TH_LAYER_MODE_COUNT ||
            (l->mask != TH_NO_MASK && (l->mask >= mask_count || !masks[l->mask].weights)) ||
            !(l->weight >= 0 && l->weight <= 1) || !(l->ratio >= 0 && l->ratio <= 1))
            return false;
    }
    return true;
}

void th_exact_layers(const th_model *model, const th_layer *layers, uint32_t count, const th_mask *masks,
                     uint32_t mask_count, th_interpolation interpolation, th_dmat34 *out_local, double *out_weights)
{
    if (!TH_VALID_MODEL(model) || !TH_VALID(are_layers_of(model, layers, count, masks, mask_count)) ||
        !TH_VALID((unsigned)interpolation < TH_INTERPOLATION_COUNT) ||
        !TH_VALID(out_local && (out_weights || model->weight_count == 0)))
        return;
    const layered_pose p = {model, layers, count, interpolation};
    const th_channel *next[TH_MAX_LAYERS], *end[TH_MAX_LAYERS]; /* of each clip, ascending by joint */
    for (uint32_t i = 0; i < count; i++) {
        const th_clip *clip = clip_of(model, &layers[i]);
        next[i] = clip ? clip->channels : NULL;
        end[i] = clip ? clip->channels + clip->channel_count : NULL;
    }
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const th_channel *channels[TH_MAX_LAYERS], *any = NULL;
        out_local[j] = th_dmat34_from(model->joints[j].rest); /* which may be sheared */
        for (uint32_t i = count; i-- > 0;) {
            channels[i] = next[i] != end[i] && next[i]->joint == j ? next[i]++ : NULL;
            any = channels[i] ? channels[i] : any;
        }
        if (any) {
            const th_trs trs = blend_joint(&p, masks, j, th_joint_rest(&model->joints[j], any), channels);
            out_local[j] = th_dmat34_from_trs(&trs);
        }
    }
    for (uint32_t w = 0; w < model->weight_count; w++)
        out_weights[w] = blend_morph_weight(&p, w);
}
