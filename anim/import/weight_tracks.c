/* Clips that move weights: the keys of a node hold all its weights, a track those of one. */
#include "ipc.h"
#include "scene.h"
#include "tracks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The weight tracks of a clip while they are built. */
typedef struct builder {
    scene *s;
    const char *clip; /* its name */
    double rate;      /* ticks per second */
    bool *repaired;
    th_weight_track *tracks; /* by weight; without keys: the clip does not move it */
} builder;

static bool is_known(const builder *b, uint32_t joint, const char *node)
{
    warn(b->s, WARN_CHANNEL_LOST, joint == TH_NO_INDEX, "clip %s, node %s", b->clip, node);
    return joint != TH_NO_INDEX;
}

/* Stores the track unless an earlier channel moves this weight or there is no key. */
static void add_track(builder *b, uint32_t weight, track *t)
{
    th_weight_track *out = &b->tracks[weight];
    const double rest = (double)b->s->model->weights[weight].rest;
    const th_track done = finish_track(t, &rest, b->rate);
    warn(b->s, WARN_CHANNEL_REPEATED, out->track.key_count > 0, "%s", t->where);
    *b->repaired |= t->repaired;
    if (out->track.key_count == 0 && !t->filled)
        *out = (th_weight_track){weight, done};
}

/* ---- glTF ---- */

/* The keys of one target. */
static track take_target(builder *b, const weight_keys *keys, uint32_t target, const char *where)
{
    const size_t width = keys->width;
    track t = begin_track(b->s, where, 1, keys->count);
    float *spline = keys->splines ? make(b->s, float, 3 * (size_t)keys->count) : NULL;
    t.steps = keys->steps;
    t.spline = spline;
    for (uint32_t k = 0; k < keys->count; k++) {
        const float *in = keys->values + (keys->splines ? 3 * k + 1 : k) * width + target;
        t.keys[k] = (key){(double)keys->times[k], {in[0]}, k};
        for (size_t i = 0; spline && i < 3; i++)
            spline[3 * k + i] = keys->values[(3 * k + i) * width + target];
    }
    return t;
}

static void read_gltf_tracks(builder *b, uint32_t clip)
{
    uint32_t count;
    const weight_keys *keys = find_weight_keys(b->s, clip, &count);
    for (uint32_t c = 0; c < count; c++, keys++) {
        if (!is_known(b, keys->joint, keys->node))
            continue;
        const weight_set *set = &b->s->weights[keys->joint];
        const char *where = make_string(b->s, "clip %s, node %s", b->clip, keys->node);
        const bool fits = set->count > 0 && set->count == keys->width;
        warn(b->s, WARN_CHANNEL_MORPHS, !fits, "%s", where);
        for (uint32_t t = 0; fits && t < set->count; t++) {
            track one = take_target(b, keys, t, where);
            add_track(b, set->first + t, &one);
        }
    }
}

/* ---- Assimp ---- */

/* A key of Assimp's names some of the targets. */
static track take_values(builder *b, const struct aiMeshMorphAnim *in, uint32_t target, const char *where)
{
    track t = begin_track(b->s, where, 1, in->mNumKeys);
    t.count = 0;
    for (unsigned k = 0; k < in->mNumKeys; k++)
        for (unsigned i = 0; i < in->mKeys[k].mNumValuesAndWeights; i++)
            if (in->mKeys[k].mValues[i] == target) {
                t.keys[t.count] = (key){in->mKeys[k].mTime, {(float)in->mKeys[k].mWeights[i]}, t.count};
                t.count++;
                break;
            }
    return t;
}

/* Assimp names a channel after its node, with the number of the mesh behind an asterisk. */
static reference *read_channels(builder *b, const struct aiAnimation *in)
{
    scene *s = b->s;
    reference *channels = make(s, reference, in->mNumMorphMeshChannels);
    for (unsigned c = 0; c < in->mNumMorphMeshChannels; c++) {
        struct aiString name = in->mMorphMeshChannels[c]->mName;
        char *mesh = strrchr(name.data, '*');
        if (mesh)
            *mesh = '\0';
        channels[c] = (reference){.name = read_name(s, &name), .joint = TH_NO_INDEX};
    }
    resolve_references(s, channels, in->mNumMorphMeshChannels, make_string(s, "a channel of clip %s", b->clip));
    return channels;
}

static void read_assimp_tracks(builder *b, const struct aiAnimation *in)
{
    const reference *channels = read_channels(b, in);
    for (unsigned c = 0; c < in->mNumMorphMeshChannels; c++) {
        if (!is_known(b, channels[c].joint, channels[c].name))
            continue;
        const weight_set *set = &b->s->weights[channels[c].joint];
        const char *where = make_string(b->s, "clip %s, node %s", b->clip, channels[c].name);
        warn(b->s, WARN_CHANNEL_MORPHS, set->count == 0, "%s", where);
        for (uint32_t t = 0; t < set->count; t++) {
            track one = take_values(b, in->mMorphMeshChannels[c], t, where);
            add_track(b, set->first + t, &one);
        }
    }
}

void read_weight_tracks(scene *s, uint32_t index, double ticks_per_second, bool *repaired, th_clip *out)
{
    const struct aiAnimation *in = s->ai->mAnimations[index];
    const uint32_t count = s->model->weight_count;
    builder b = {s, out->name, ticks_per_second, repaired, make(s, th_weight_track, count)};
    if (s->gltf)
        read_gltf_tracks(&b, index);
    else if (in->mNumMorphMeshChannels > 0)
        read_assimp_tracks(&b, in);
    for (uint32_t w = 0; w < count; w++)
        if (b.tracks[w].track.key_count > 0)
            b.tracks[out->weight_track_count++] = b.tracks[w];
    out->weight_tracks = b.tracks;
}
