/* Clips: all channels of the file, with keys as th_track requires: finite, ascending, unit rotations. */
#include "importer.h"
#include "scene.h"
#include "tracks.h"

#include <assert.h>
#include <assimp/cimport.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- from Assimp ---- */

static track read_vectors(scene *s, const char *where, const struct aiVectorKey *keys, uint32_t count)
{
    track t = begin_track(s, where, 3, keys ? count : 0);
    for (uint32_t k = 0; k < t.count; k++) {
        struct aiVector3D v = keys[k].mValue;
        t.keys[k] = (key){keys[k].mTime, {v.x, v.y, v.z}, k};
    }
    return t;
}

static track read_quaternions(scene *s, const char *where, const struct aiQuatKey *keys, uint32_t count)
{
    track t = begin_track(s, where, 4, keys ? count : 0);
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
                      .translation = finish_track(&translation, a.rest.translation, w->rate),
                      .rotation = finish_track(&rotation, a.rest.rotation, w->rate),
                      .scale = finish_track(&scale, a.rest.scale, w->rate)};
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
    for (uint32_t w = 0; w < clip->weight_track_count; w++) {
        const th_track *keys = &clip->weight_tracks[w].track;
        last = fmax(last, keys->times[keys->key_count - 1]);
    }
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

static bool is_empty(const th_clip *clip)
{
    return clip->channel_count == 0 && clip->weight_track_count == 0;
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
    read_weight_tracks(s, index, work.rate, &work.repaired, out);
    if (is_empty(out))
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
        warn(s, WARN_CLIP_MESHES, in->mNumMeshChannels > 0, "clip %s", clip->name);
        warn(s, WARN_CLIP_EMPTY, is_empty(clip), "clip %s", clip->name);
        count += !is_empty(clip);
    }
    s->model->clips = clips;
    s->model->clip_count = count;
}
