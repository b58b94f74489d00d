/* Clips: all channels of the file, with keys as th_track requires: finite, ascending, unit rotations. */
#include "clips.h"

#include "model/bounds_proxy.h"

#include <assert.h>
#include <assimp/cimport.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

track make_track(uint32_t width, uint32_t count)
{
    assert(width == 1 || width == 3 || width == 4);
    track t = {.width = width, .count = count, .keys = calloc((size_t)count + 1, sizeof(key))};
    if (!t.keys)
        give_up_memory();
    return t;
}

/* ---- tracks ---- */

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    int order = (x->time > y->time) - (x->time < y->time);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Normalises rotations and makes neighbours take the shorter arc. A zero rotation takes the value before it, or the
 * first valid one if it is at the start. Almost every file is off by about 1e-4, which is not worth a warning. */
static void make_rotations_good(const clip *c, track *t, const char *where)
{
    assert(t->width == 4 && t->count > 0);
    uint32_t zero = 0, scaled = 0;
    double before[4] = {0, 0, 0, 1};
    bool any = false;
    for (uint32_t k = 0; k < t->count && !any; k++) {
        for (int i = 0; i < 4; i++)
            before[i] = (double)t->keys[k].value[i];
        any = th_quat_normalize(before);
    }
    if (!any)
        memcpy(before, (double[4]){0, 0, 0, 1}, sizeof before);
    for (uint32_t k = 0; k < t->count; k++) {
        float *value = t->keys[k].value;
        double q[4] = {(double)value[0], (double)value[1], (double)value[2], (double)value[3]};
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!th_quat_normalize(q)) {
            memcpy(q, before, sizeof q);
            zero++;
        } else if (fabs(length - 1) > 1e-3) {
            scaled++;
        }
        double dot = q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3];
        for (int i = 0; i < 4; i++) {
            before[i] = dot < 0 ? -q[i] : q[i];
            value[i] = (float)before[i];
        }
    }
    warn(c->s, WARN_ROTATION_ZERO, zero, "%s", where);
    warn(c->s, WARN_ROTATION_LENGTH, scaled, "%s", where);
}

/* Or so long that its length squared is no float. */
static bool is_zero_rotation(const float q[4])
{
    double length2 = 0;
    for (int i = 0; i < 4; i++)
        length2 += (double)q[i] * (double)q[i];
    return !(length2 >= 1e-11 && length2 < 1e38);
}

/* Keeps the rotations of a spline, because length and sign are part of the curve. Only zero is invalid. */
static void replace_zero_rotations(const clip *c, track *t, const char *where)
{
    static const float none[4] = {0, 0, 0, 1};
    const float *before = NULL;
    uint32_t zero = 0;
    for (uint32_t k = 0; k < t->count && !before; k++)
        if (!is_zero_rotation(t->keys[k].value))
            before = t->keys[k].value;
    for (uint32_t k = 0; k < t->count; k++) {
        float *value = t->keys[k].value;
        if (is_zero_rotation(value)) {
            memcpy(value, before ? before : none, sizeof none);
            zero++;
        }
        before = value;
    }
    warn(c->s, WARN_ROTATION_ZERO, zero, "%s", where);
}

/* Converts tangents to change per tick and makes them finite. The in-tangent of the first key and the out-tangent of
 * the last are never used and become 0. */
static const float *finish_tangents(const clip *c, const track *t, const char *where)
{
    assert(t->spline && t->count > 1 && c->ticks_per_second > 0);
    const uint32_t width = t->width;
    uint32_t broken = 0;
    float *tangents = make(c->s, float, 2 * (size_t)t->count * width);
    for (uint32_t k = 0; k < t->count; k++)
        for (uint32_t side = 0; side < 2; side++) {
            const float *in = t->spline + (3 * (size_t)t->keys[k].order + 2 * side) * width;
            bool used = side ? k + 1 < t->count : k > 0, good = true;
            for (uint32_t i = 0; i < width; i++)
                good &= isfinite(in[i]);
            for (uint32_t i = 0; used && good && i < width; i++)
                tangents[(2 * (size_t)k + side) * width + i] = (float)((double)in[i] / c->ticks_per_second);
            broken += used && !good;
        }
    warn(c->s, WARN_TANGENT_NOT_FINITE, broken, "%s", where);
    return tangents;
}

/* Repairs the keys and frees them. where: for warnings. rest: the value if no key is left; then *filled is set. */
static th_track finish_track(clip *c, track *t, const char *where, const double rest[], bool *filled)
{
    scene *s = c->s;
    uint32_t kept = 0, unsorted = 0;
    for (uint32_t k = 0; k < t->count; k++) {
        bool good = isfinite(t->keys[k].time);
        for (uint32_t i = 0; i < t->width; i++)
            good &= isfinite(t->keys[k].value[i]);
        if (good)
            t->keys[kept++] = t->keys[k];
    }
    warn(s, WARN_KEY_NOT_FINITE, t->count - kept, "%s", where);
    c->is_repaired |= kept < t->count;
    t->count = kept;

    for (uint32_t k = 1; k < t->count; k++)
        unsorted += t->keys[k].time < t->keys[k - 1].time;
    warn(s, WARN_KEY_UNSORTED, unsorted, "%s", where);
    c->is_repaired |= unsorted > 0;
    if (unsorted > 0)
        qsort(t->keys, t->count, sizeof *t->keys, compare_keys);

    /* Of several keys with equal times the first ends the part before and the last begins the next one. */
    kept = 0;
    for (uint32_t k = 0; k < t->count; k++) {
        const key *in = &t->keys[k], *before = kept > 0 ? &t->keys[kept - 1] : NULL;
        const bool repeats = before && in->time == before->time,
                   is_third = repeats && kept > 1 && before[-1].time == in->time,
                   is_same = repeats && !t->spline && memcmp(in->value, before->value, sizeof in->value) == 0;
        kept -= is_third || is_same;
        t->keys[kept++] = *in;
    }
    t->count = kept;

    *filled = t->count == 0;
    if (*filled) {
        t->keys[0] = (key){.time = 0};
        for (uint32_t i = 0; i < t->width; i++)
            t->keys[0].value[i] = (float)rest[i];
        t->count = 1;
    }
    const bool spline = t->spline && t->count > 1;
    if (t->width == 4)
        (spline ? replace_zero_rotations : make_rotations_good)(c, t, where);

    double *times = make(s, double, t->count);
    float *values = make(s, float, (size_t)t->count * t->width);
    for (uint32_t k = 0; k < t->count; k++) {
        times[k] = t->keys[k].time;
        memcpy(values + (size_t)k * t->width, t->keys[k].value, t->width * sizeof *values);
    }
    const float *tangents = spline ? finish_tangents(c, t, where) : NULL;
    free(t->keys);
    return (th_track){t->count, times, values, tangents, t->steps && t->count > 1};
}

/* ---- times of keys ---- */

void add_moment(moments *m, double time)
{
    if (m->count == m->room) {
        double *grown = make(m->s, double, 2 * m->room + 64);
        if (m->count > 0)
            memcpy(grown, m->times, m->count * sizeof *grown);
        m->times = grown;
        m->room = 2 * m->room + 64;
    }
    m->times[m->count++] = time;
}

void finish_moments(moments *m, double begin, double end)
{
    add_moment(m, begin);
    add_moment(m, end);
    qsort(m->times, m->count, sizeof *m->times, th_compare_doubles);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->times[i] >= begin && m->times[i] <= end && (kept == 0 || m->times[i] > m->times[kept - 1]))
            m->times[kept++] = m->times[i];
    m->count = kept;
}

/* ---- channels ---- */

bool can_move(const clip *c, uint32_t joint, const char *node)
{
    const bool lost = joint == TH_NO_INDEX, repeated = !lost && c->taken[joint];
    warn(c->s, WARN_CHANNEL_LOST, lost, "clip %s, node %s", c->name, node);
    warn(c->s, WARN_CHANNEL_REPEATED, repeated, "clip %s, node %s", c->name, node);
    return !lost && !repeated;
}

void add_channel(clip *c, uint32_t joint, track parts[3], const th_trs *rest)
{
    const th_joint *j = &c->s->model->joints[joint];
    const char *where = make_string(c->s, "clip %s, node %s", c->name, j->name);
    const track *rotation = &parts[1], *scale = &parts[2];
    rest = rest ? rest : j->rest_parts;
    /* Else it is decomposed to match the existing keys. A transform has several decompositions, and mixing parts of two
     * gives a third transform. Without rotation keys, the scale keys show on which axis a mirror belongs. */
    th_trs decomposed;
    if (!rest) {
        const th_dmat34 matrix = th_dmat34_from(j->rest);
        double like[3] = {1, 1, 1};
        for (int i = 0; i < 3 && scale->count > 0; i++)
            like[i] = (double)scale->keys[0].value[i];
        const double shear = rotation->count > 0 || scale->count == 0
                                 ? th_dmat34_decompose(&matrix, &decomposed)
                                 : th_dmat34_decompose_like(&matrix, like, &decomposed);
        const bool stands_in = rotation->count == 0 || scale->count == 0;
        warn(c->s, WARN_REST_SHEARED, stands_in && shear > 1e-4, "%s", where);
        rest = &decomposed;
    }
    bool filled[3];
    th_channel *out = &c->channels[c->channel_count++];
    out->joint = joint;
    out->translation = finish_track(c, &parts[0], where, rest->translation, &filled[0]);
    out->rotation = finish_track(c, &parts[1], where, rest->rotation, &filled[1]);
    out->scale = finish_track(c, &parts[2], where, rest->scale, &filled[2]);
    out->filled = (filled[0] ? TH_TRANSLATION : 0) | (filled[1] ? TH_ROTATION : 0) | (filled[2] ? TH_SCALE : 0);
    c->taken[joint] = true;
}

void add_weight_track(clip *c, uint32_t weight, const char *node, track *t)
{
    th_weight_track *out = &c->weight_tracks[weight];
    const char *where = make_string(c->s, "clip %s, node %s", c->name, node);
    const double rest = (double)c->s->model->weights[weight].rest;
    bool filled;
    const th_track done = finish_track(c, t, where, &rest, &filled);
    warn(c->s, WARN_CHANNEL_REPEATED, out->track.key_count > 0, "%s", where);
    if (out->track.key_count == 0 && !filled)
        *out = (th_weight_track){.weight = weight, .track = done};
}

/* ---- from Assimp ---- */

static track read_vectors(const struct aiVectorKey *keys, uint32_t count, const struct aiVector3D *still)
{
    const bool is_still = count == 1 && keys->mTime == 0 && memcmp(&keys->mValue, still, sizeof *still) == 0;
    track t = make_track(3, keys && !is_still ? count : 0);
    for (uint32_t k = 0; k < t.count; k++)
        t.keys[k] = (key){keys[k].mTime, {keys[k].mValue.x, keys[k].mValue.y, keys[k].mValue.z}, k};
    return t;
}

static track read_rotations(const struct aiQuatKey *keys, uint32_t count, const struct aiQuaternion *still)
{
    const bool is_still = count == 1 && keys->mTime == 0 && memcmp(&keys->mValue, still, sizeof *still) == 0;
    track t = make_track(4, keys && !is_still ? count : 0);
    for (uint32_t k = 0; k < t.count; k++) {
        const struct aiQuaternion q = keys[k].mValue;
        t.keys[k] = (key){keys[k].mTime, {q.x, q.y, q.z, q.w}, k};
    }
    return t;
}

static void read_channels(clip *c, const struct aiAnimation *in)
{
    scene *s = c->s;
    reference *targets = make(s, reference, in->mNumChannels);
    for (unsigned i = 0; i < in->mNumChannels; i++)
        targets[i] = (reference){.name = read_name(s, in->mChannels[i]->mNodeName.data)};
    c->channels = make(s, th_channel, in->mNumChannels);
    resolve_references(s, targets, in->mNumChannels, make_string(s, "a channel of clip %s", c->name));
    for (unsigned i = 0; i < in->mNumChannels; i++) {
        const struct aiNodeAnim *channel = in->mChannels[i];
        const uint32_t joint = targets[i].joint;
        if (!can_move(c, joint, targets[i].name))
            continue;
        undo_assimp_keys(c, channel, targets[i].name, joint);
        /* Parts of the transform that the file does not move Assimp gives one key, taken from its own decomposition of
         * the node's transform, and they are recognised by it. */
        struct aiVector3D translation, scale;
        struct aiQuaternion rotation;
        aiDecomposeMatrix(&s->nodes.node[joint]->mTransformation, &scale, &rotation, &translation);
        track parts[3] = {read_vectors(channel->mPositionKeys, channel->mNumPositionKeys, &translation),
                          read_rotations(channel->mRotationKeys, channel->mNumRotationKeys, &rotation),
                          read_vectors(channel->mScalingKeys, channel->mNumScalingKeys, &scale)};
        add_channel(c, joint, parts, NULL);
    }
}

/* ---- clips ---- */

static int compare_channels(const void *a, const void *b)
{
    const th_channel *x = a, *y = b;
    return (x->joint > y->joint) - (x->joint < y->joint);
}

/* Of a track that moves; one key alone is of all times. */
static void extend_span(const th_track *of, double *first, double *last)
{
    if (of->key_count > 1)
        *first = fmin(*first, of->times[0]);
    *last = fmax(*last, of->times[of->key_count - 1]);
}

/* Reads a clip that has a name. It may be empty. */
static void read_clip(scene *s, uint32_t index, th_clip *out)
{
    const struct aiAnimation *in = s->gltf || s->fbx || s->collada ? NULL : s->ai->mAnimations[index];
    clip c = {.s = s,
              .name = out->name,
              .ticks_per_second = 25,
              .taken = make(s, bool, s->nodes.count),
              .weight_tracks = make(s, th_weight_track, s->model->weight_count)};
    bool has_rate = true;
    if (!in) {
        (s->gltf ? read_gltf_clip : s->fbx ? read_fbx_clip : read_collada_clip)(&c, index);
    } else {
        c.duration = in->mDuration;
        has_rate = isfinite(in->mTicksPerSecond) && in->mTicksPerSecond > 0;
        c.ticks_per_second = has_rate ? in->mTicksPerSecond : 25;
        read_channels(&c, in);
    }
    qsort(c.channels, c.channel_count, sizeof *c.channels, compare_channels);
    out->channels = c.channels;
    out->channel_count = c.channel_count;
    for (uint32_t w = 0; w < s->model->weight_count; w++)
        if (c.weight_tracks[w].track.key_count > 0)
            c.weight_tracks[out->weight_track_count++] = c.weight_tracks[w];
    out->weight_tracks = c.weight_tracks;
    if (out->channel_count == 0 && out->weight_track_count == 0)
        return;
    out->ticks_per_second = c.ticks_per_second;
    warn(s, WARN_CLIP_RATE, !has_rate, "clip %s", out->name);

    /* The duration in the file may be longer than its keys (a pause before the loop). It is ignored if it would cut
     * keys off, or if it was computed from keys that had to be repaired. */
    double first = 0, last = 0;
    for (uint32_t k = 0; k < out->channel_count; k++) {
        extend_span(&out->channels[k].translation, &first, &last);
        extend_span(&out->channels[k].rotation, &first, &last);
        extend_span(&out->channels[k].scale, &first, &last);
    }
    for (uint32_t w = 0; w < out->weight_track_count; w++)
        extend_span(&out->weight_tracks[w].track, &first, &last);
    warn(s, WARN_CLIP_EARLY, first < 0, "clip %s, from %g s on", out->name, first / out->ticks_per_second);
    const bool good = isfinite(c.duration) && c.duration >= last * (1 - 1e-6) && !c.is_repaired;
    out->duration_ticks = good ? c.duration : last;
    warn(s, WARN_CLIP_DURATION, !good && !(c.duration == last), "clip %s", out->name);
}

/* Numbers the clips that share a name, as make_joint_names_unique() does joints. The first keeps it. */
static void make_clip_names_unique(scene *s, th_clip *clips)
{
    const uint32_t count = s->model->clip_count;
    const char **given = make(s, const char *, count);
    for (uint32_t c = 0; c < count; c++) {
        uint32_t number = 1;
        given[c] = clips[c].name;
        for (uint32_t before = 0; before < c; before++)
            number += strcmp(given[before], given[c]) == 0;
        if (number == 1)
            continue;
        const char *name = make_string(s, "%s#%u", given[c], number);
        while (th_model_find_clip(s->model, name) != TH_NO_INDEX)
            name = make_string(s, "%s_", name);
        clips[c].name = name;
        warn(s, WARN_CLIP_RENAMED, 1, "%s", name);
    }
}

void read_clips(scene *s)
{
    const uint32_t given = s->gltf      ? count_gltf_clips(s)
                           : s->fbx     ? count_fbx_clips(s)
                           : s->collada ? count_collada_clips(s)
                                        : s->ai->mNumAnimations;
    if (given > TH_MAX_CLIPS)
        give_up(TH_ERR_LIMIT, "%u clips, the limit is %u", given, TH_MAX_CLIPS);
    th_clip *clips = make(s, th_clip, given);
    uint32_t count = 0;
    for (uint32_t i = 0; i < given; i++) {
        th_clip *out = &clips[count];
        const struct aiAnimation *in = s->gltf || s->fbx || s->collada ? NULL : s->ai->mAnimations[i];
        const char *name = in        ? in->mName.data
                           : s->gltf ? name_gltf_clip(s, i)
                           : s->fbx  ? name_fbx_clip(s, i)
                                     : name_collada_clip(s, i);
        *out = (th_clip){.name = read_name(s, name)};
        if (!out->name[0]) {
            out->name = make_string(s, "clip_%u", i);
            warn(s, WARN_CLIP_UNNAMED, 1, "%s", out->name);
        }
        read_clip(s, i, out);
        const bool is_empty = out->channel_count == 0 && out->weight_track_count == 0;
        warn(s, WARN_CLIP_EMPTY, is_empty, "clip %s", out->name);
        count += !is_empty;
    }
    s->model->clips = clips;
    s->model->clip_count = count;
    make_clip_names_unique(s, clips);
}
