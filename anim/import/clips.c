/* Clips: all channels of the file, with keys as th_track requires: finite, ascending, unit rotations. */
#include "ipc.h"
#include "scene.h"

#include <assert.h>
#include <assimp/cimport.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One key of any kind: x y z, or x y z w. */
typedef struct key {
    double time;
    float value[4];
    uint32_t order; /* in the file, for a stable sort */
} key;

/* A track while it is built. */
typedef struct track {
    scene *s;
    const char *where; /* for warnings */
    int width;         /* 3 or 4 */
    key *keys;
    uint32_t count;
    bool steps;          /* keys hold until the next one */
    const float *spline; /* keys as read_spline returns them, addressed by their order; NULL: no spline */
    bool repaired;       /* key times were changed */
    bool filled;         /* from the rest transform, because the file has no keys */
} track;

/* ---- warnings, in this order ---- */

static bool is_finite(const key *k, int width)
{
    for (int i = 0; i < width; i++)
        if (!isfinite(k->value[i]))
            return false;
    return isfinite(k->time);
}

static void drop_not_finite(track *t)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < t->count; k++)
        if (is_finite(&t->keys[k], t->width))
            t->keys[kept++] = t->keys[k];
    warn(t->s, WARN_KEY_NOT_FINITE, t->count - kept, "%s", t->where);
    t->repaired |= kept < t->count;
    t->count = kept;
}

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    int order = (x->time > y->time) - (x->time < y->time);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void sort(track *t)
{
    uint32_t unsorted = 0;
    for (uint32_t k = 1; k < t->count; k++)
        unsorted += t->keys[k].time < t->keys[k - 1].time;
    if (unsorted == 0)
        return;
    warn(t->s, WARN_KEY_UNSORTED, unsorted, "%s", t->where);
    t->repaired = true;
    qsort(t->keys, t->count, sizeof *t->keys, compare_keys);
}

/* Keeps the last of several keys with equal times: its value holds from that time on. */
static void drop_repeated(track *t)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < t->count; k++)
        if (k + 1 == t->count || t->keys[k + 1].time > t->keys[k].time)
            t->keys[kept++] = t->keys[k];
    warn(t->s, WARN_KEY_REPEATED, t->count - kept, "%s", t->where);
    t->repaired |= kept < t->count;
    t->count = kept;
}

static bool is_zero_rotation(const float q[4])
{
    double length2 = 0;
    for (int i = 0; i < 4; i++)
        length2 += (double)q[i] * (double)q[i];
    return length2 < 1e-11;
}

/* Normalises rotations and makes neighbours take the shorter arc. A zero rotation takes the value before it, or the
 * first valid one if it is at the start. Almost every file is off by about 1e-4, which is not worth a warning. */
static void make_rotations_good(track *t)
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
    warn(t->s, WARN_ROTATION_ZERO, zero, "%s", t->where);
    warn(t->s, WARN_ROTATION_LENGTH, scaled, "%s", t->where);
}

/* Keeps the rotations of a spline, because length and sign are part of the curve. Only zero is invalid. */
static void replace_zero_rotations(track *t)
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
    warn(t->s, WARN_ROTATION_ZERO, zero, "%s", t->where);
}

/* Converts tangents to change per tick and makes them finite. The in-tangent of the first key and the out-tangent of
 * the last are never used and become 0. */
static const float *finish_tangents(track *t, double ticks_per_second)
{
    assert(t->spline && t->count > 1 && ticks_per_second > 0);
    uint32_t width = (uint32_t)t->width, broken = 0;
    float *tangents = make(t->s, float, 2 * (size_t)t->count * width);
    for (uint32_t k = 0; k < t->count; k++)
        for (uint32_t side = 0; side < 2; side++) {
            const float *in = t->spline + (3 * (size_t)t->keys[k].order + 2 * side) * width;
            bool used = side ? k + 1 < t->count : k > 0, good = true;
            for (uint32_t i = 0; i < width; i++)
                good &= isfinite(in[i]);
            for (uint32_t i = 0; used && good && i < width; i++)
                tangents[(2 * (size_t)k + side) * width + i] = (float)((double)in[i] / ticks_per_second);
            broken += used && !good;
        }
    warn(t->s, WARN_TANGENT_NOT_FINITE, broken, "%s", t->where);
    return tangents;
}

/* rest: the value if no key is left. */
static th_track finish(track *t, const double rest[], double ticks_per_second)
{
    drop_not_finite(t);
    sort(t);
    drop_repeated(t);
    if (t->count == 0) {
        for (int i = 0; i < t->width; i++)
            t->keys[0].value[i] = (float)rest[i];
        t->keys[0].time = 0;
        t->count = 1;
        t->filled = true;
    }
    bool spline = t->spline && t->count > 1;
    if (t->width == 4)
        (spline ? replace_zero_rotations : make_rotations_good)(t);

    double *times = make(t->s, double, t->count);
    float *values = make(t->s, float, (size_t)t->count *(size_t)t->width);
    for (uint32_t k = 0; k < t->count; k++) {
        times[k] = t->keys[k].time;
        memcpy(values + (size_t)k * (size_t)t->width, t->keys[k].value, (size_t)t->width * sizeof *values);
    }
    const float *tangents = spline ? finish_tangents(t, ticks_per_second) : NULL;
    free(t->keys);
    return (th_track){t->count, times, values, tangents, t->steps && t->count > 1};
}

/* ---- from Assimp ---- */

static track begin(scene *s, const char *where, int width, uint32_t count)
{
    assert(width == 3 || width == 4);
    track t = {s, where, width, calloc((size_t)count + 1, sizeof(key)), count, false, NULL, false, false};
    if (!t.keys)
        give_up_memory();
    return t;
}

static track read_vectors(scene *s, const char *where, const struct aiVectorKey *keys, uint32_t count)
{
    track t = begin(s, where, 3, keys ? count : 0);
    for (uint32_t k = 0; k < t.count; k++) {
        struct aiVector3D v = keys[k].mValue;
        t.keys[k] = (key){keys[k].mTime, {v.x, v.y, v.z}, k};
    }
    return t;
}

static track read_quaternions(scene *s, const char *where, const struct aiQuatKey *keys, uint32_t count)
{
    track t = begin(s, where, 4, keys ? count : 0);
    for (uint32_t k = 0; k < t.count; k++) {
        struct aiQuaternion q = keys[k].mValue;
        t.keys[k] = (key){keys[k].mTime, {q.x, q.y, q.z, q.w}, k};
    }
    return t;
}

/* ---- what the file leaves out ---- */

static bool same_vector(const struct aiVectorKey *k, const struct aiVector3D *v)
{
    return k->mTime == 0 && memcmp(&k->mValue, v, sizeof *v) == 0;
}

/* Parts of the transform that the file moves. Assimp gives the others one key, taken from its own decomposition of the
 * node's transform, and they are recognised by it. */
static uint32_t moved_parts(const struct aiNodeAnim *in, const struct aiNode *node)
{
    struct aiVector3D translation, scale;
    struct aiQuaternion rotation;
    aiDecomposeMatrix(&node->mTransformation, &scale, &rotation, &translation);
    const struct aiQuatKey *turn = in->mRotationKeys;
    bool no_translation = in->mNumPositionKeys == 1 && same_vector(in->mPositionKeys, &translation);
    bool no_rotation =
        in->mNumRotationKeys == 1 && turn->mTime == 0 && memcmp(&turn->mValue, &rotation, sizeof rotation) == 0;
    bool no_scale = in->mNumScalingKeys == 1 && same_vector(in->mScalingKeys, &scale);
    return (no_translation ? 0 : TH_TRANSLATION) | (no_rotation ? 0 : TH_ROTATION) | (no_scale ? 0 : TH_SCALE);
}

/* Decomposes the rest transform to match the existing keys. A transform has several decompositions, and mixing parts of
 * two gives a third transform. Without rotation keys, the scale keys show on which axis a mirror belongs. */
static double split_rest(const th_mat34 *rest, const track *rotation, const track *scale, th_trs *out)
{
    th_dmat34 matrix = th_dmat34_from(*rest);
    if (rotation->count > 0 || scale->count == 0)
        return th_dmat34_decompose(&matrix, out);
    const float *first = scale->keys[0].value;
    return th_dmat34_decompose_like(&matrix, (double[3]){(double)first[0], (double)first[1], (double)first[2]}, out);
}

/* ---- channels ---- */

/* A clip while it is built. */
typedef struct clip_work {
    scene *s;
    uint32_t index; /* in the file */
    const char *name;
    double rate;   /* ticks per second */
    bool repaired; /* key times were changed */
} clip_work;

static void read_curve(const clip_work *w, const authorship *a, uint32_t channel, uint32_t part, track *t)
{
    t->steps = a->steps & part;
    if (a->splines & part)
        t->spline = read_spline(w->s, w->index, channel, part);
}

static th_channel read_channel(clip_work *w, const struct aiNodeAnim *in, uint32_t index, uint32_t joint)
{
    assert(joint < w->s->model->joint_count && w->rate > 0);
    scene *s = w->s;
    const char *where = make_string(s, "clip %s, node %s", w->name, s->model->joints[joint].name);
    authorship a = {0};
    if (s->gltf)
        find_authorship(s, w->index, index, &a);
    else
        a.moved = moved_parts(in, s->nodes.node[joint]);
    uint32_t moved = a.moved;
    track translation = read_vectors(s, where, in->mPositionKeys, moved & TH_TRANSLATION ? in->mNumPositionKeys : 0);
    track rotation = read_quaternions(s, where, in->mRotationKeys, moved & TH_ROTATION ? in->mNumRotationKeys : 0);
    track scale = read_vectors(s, where, in->mScalingKeys, moved & TH_SCALE ? in->mNumScalingKeys : 0);
    read_curve(w, &a, index, TH_TRANSLATION, &translation);
    read_curve(w, &a, index, TH_ROTATION, &rotation);
    read_curve(w, &a, index, TH_SCALE, &scale);

    double shear = a.has_rest ? 0 : split_rest(&s->model->joints[joint].rest, &rotation, &scale, &a.rest);
    bool stands_in = rotation.count == 0 || scale.count == 0;
    warn(s, WARN_REST_SHEARED, stands_in && shear > 1e-4, "%s", where);

    th_channel out = {.joint = joint,
                      .translation = finish(&translation, a.rest.translation, w->rate),
                      .rotation = finish(&rotation, a.rest.rotation, w->rate),
                      .scale = finish(&scale, a.rest.scale, w->rate)};
    out.filled =
        (translation.filled ? TH_TRANSLATION : 0) | (rotation.filled ? TH_ROTATION : 0) | (scale.filled ? TH_SCALE : 0);
    w->repaired |= translation.repaired || rotation.repaired || scale.repaired;
    return out;
}

/* ---- clips ---- */

static double last_time(const th_channel *c)
{
    assert(c->translation.key_count > 0 && c->rotation.key_count > 0 && c->scale.key_count > 0);
    double last = c->translation.times[c->translation.key_count - 1];
    last = fmax(last, c->rotation.times[c->rotation.key_count - 1]);
    return fmax(last, c->scale.times[c->scale.key_count - 1]);
}

/* The duration in the file may be longer than its keys (a pause before the loop). It is ignored if it would cut keys
 * off, or if it was computed from keys that had to be repaired. */
static double read_duration(scene *s, const struct aiAnimation *in, const th_clip *clip, bool repaired)
{
    double last = 0, given = in->mDuration;
    for (uint32_t c = 0; c < clip->channel_count; c++)
        last = fmax(last, last_time(&clip->channels[c]));
    bool good = isfinite(given) && given >= last * (1 - 1e-6) && !repaired;
    if (good)
        return given;
    warn(s, WARN_CLIP_DURATION, !(given == last), "clip %s", clip->name);
    return last;
}

static double read_rate(const struct aiAnimation *in)
{
    bool good = isfinite(in->mTicksPerSecond) && in->mTicksPerSecond > 0;
    return good ? in->mTicksPerSecond : 25;
}

static int compare_channels(const void *a, const void *b)
{
    const th_channel *x = a, *y = b;
    return (x->joint > y->joint) - (x->joint < y->joint);
}

static reference *read_targets(scene *s, const struct aiAnimation *in, uint32_t index, const char *clip)
{
    authorship unused;
    reference *targets = make(s, reference, in->mNumChannels);
    for (unsigned c = 0; c < in->mNumChannels; c++)
        targets[c] = (reference){.name = read_name(s, &in->mChannels[c]->mNodeName),
                                 .joint = s->gltf ? find_authorship(s, index, c, &unused) : TH_NO_INDEX};
    if (!s->gltf)
        resolve_references(s, targets, in->mNumChannels, make_string(s, "a channel of clip %s", clip));
    return targets;
}

static void read_clip(scene *s, uint32_t index, th_clip *out)
{
    const struct aiAnimation *in = s->ai->mAnimations[index];
    const reference *targets = read_targets(s, in, index, out->name);
    th_channel *channels = make(s, th_channel, in->mNumChannels);
    bool *taken = make(s, bool, s->nodes.count);
    clip_work work = {.s = s, .index = index, .name = out->name, .rate = read_rate(in)};
    for (unsigned c = 0; c < in->mNumChannels; c++) {
        uint32_t joint = targets[c].joint;
        if (joint == TH_NO_INDEX) {
            warn(s, WARN_CHANNEL_LOST, 1, "clip %s, node %s", out->name, targets[c].name);
        } else if (taken[joint]) {
            warn(s, WARN_CHANNEL_REPEATED, 1, "clip %s, node %s", out->name, targets[c].name);
        } else {
            taken[joint] = true;
            channels[out->channel_count++] = read_channel(&work, in->mChannels[c], c, joint);
        }
    }
    assert(out->channel_count <= in->mNumChannels);
    qsort(channels, out->channel_count, sizeof *channels, compare_channels);
    out->channels = channels;
    if (out->channel_count == 0)
        return;
    out->ticks_per_second = work.rate;
    warn(s, WARN_CLIP_RATE, work.rate != in->mTicksPerSecond, "clip %s", out->name);
    out->duration_ticks = read_duration(s, in, out, work.repaired);
}

void read_clips(scene *s)
{
    if (s->ai->mNumAnimations > TH_MAX_CLIPS)
        give_up(TH_ERR_LIMIT, "%u clips, the limit is %u", s->ai->mNumAnimations, TH_MAX_CLIPS);
    th_clip *clips = make(s, th_clip, s->ai->mNumAnimations);
    uint32_t count = 0;
    for (unsigned a = 0; a < s->ai->mNumAnimations; a++) {
        const struct aiAnimation *in = s->ai->mAnimations[a];
        th_clip *clip = &clips[count];
        *clip = (th_clip){.name = read_name(s, &in->mName)};
        if (!clip->name[0]) {
            clip->name = make_string(s, "clip_%u", a);
            warn(s, WARN_CLIP_UNNAMED, 1, "%s", clip->name);
        }
        read_clip(s, a, clip);
        warn(s, WARN_CLIP_MORPHS, in->mNumMeshChannels + in->mNumMorphMeshChannels > 0, "clip %s", clip->name);
        warn(s, WARN_CLIP_EMPTY, clip->channel_count == 0, "clip %s", clip->name);
        count += clip->channel_count > 0;
    }
    s->model->clips = clips;
    s->model->clip_count = count;
}
