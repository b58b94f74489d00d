/* Animations (section 3.11): keys as Assimp's, and beside them which are in the file and how they are joined. */
#include "gltf.h"
#include "import/importer.h"

#include <stdlib.h>
#include <string.h>

/* A channel of the file. A later one for the same part of the same node replaces it. */
typedef struct source {
    uint32_t node, part;
    size_t order;
    uint32_t times, values; /* accessors */
    bool step, spline;
} source;

/* An animation while it is read. */
typedef struct reader {
    gltf *g;
    uint32_t index;
    struct aiAnimation *out;
    gltf_channel *channels;
    weight_keys *weights;
    uint32_t weight_count;
    struct {
        const char *target, *times, *keys, *weights;
    } names; /* for messages; made once, not for each of a thousand channels */
} reader;

enum { TICKS_PER_SECOND = 1000 };

/* The part of a node that is no transform; the others are TH_TRANSLATION and so on. Sorted, it is a node's last. */
enum { WEIGHTS = 8 };

static void name_parts(reader *r)
{
    scene *s = r->g->s;
    r->names.target = make_string(s, "the target of animation %u", r->index);
    r->names.times = make_string(s, "the key times of animation %u", r->index);
    r->names.keys = make_string(s, "the keys of animation %u", r->index);
    r->names.weights = make_string(s, "the weights of animation %u", r->index);
}

/* ---- channels of the file ---- */

static uint32_t part_of(const json_t *channel)
{
    const char *path = json_string_value(json_object_get(json_object_get(channel, "target"), "path"));
    return path && strcmp(path, "weights") == 0 ? WEIGHTS : gltf_part(channel);
}

static source read_source(const reader *r, const json_t *animation, const json_t *channel, size_t order)
{
    const json_t *target = json_object_get(channel, "target");
    const json_t *sampler = gltf_at(json_object_get(animation, "samplers"), gltf_index(channel, "sampler"));
    const char *mode = json_string_value(json_object_get(sampler, "interpolation"));
    return (source){.node = gltf_link(r->g, target, "node", "nodes", r->names.target),
                    .part = part_of(channel),
                    .order = order,
                    .times = gltf_link(r->g, sampler, "input", "accessors", r->names.times),
                    .values = gltf_link(r->g, sampler, "output", "accessors", r->names.keys),
                    .step = mode && strcmp(mode, "STEP") == 0,
                    .spline = mode && strcmp(mode, "CUBICSPLINE") == 0};
}

static int compare_sources(const void *a, const void *b)
{
    const source *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool has_keys(const reader *r, const source *c)
{
    return c->times != TH_NO_INDEX && c->values != TH_NO_INDEX &&
           gltf_count(r->g, c->times, r->names.times) <= gltf_count(r->g, c->values, r->names.keys);
}

/* Lists the channels that can be played, sorted by node and part. Warns about the others. */
static size_t list_sources(reader *r, const json_t *animation, source *out)
{
    scene *s = r->g->s;
    const json_t *list = json_object_get(animation, "channels"), *channel;
    size_t c, count = 0, kept = 0;
    json_array_foreach(list, c, channel)
    {
        const source found = read_source(r, animation, channel, c);
        const bool aimed = found.node != TH_NO_INDEX && found.part;
        warn(s, WARN_CHANNEL_UNAIMED, !aimed, "animation %u", r->index);
        if (!aimed)
            continue;
        const bool keyed = has_keys(r, &found);
        warn(s, WARN_CHANNEL_KEYLESS, !keyed, "animation %u", r->index);
        out[count] = found;
        count += keyed;
    }
    qsort(out, count, sizeof *out, compare_sources);
    for (c = 0; c < count; c++)
        if (c + 1 == count || out[c].node != out[c + 1].node || out[c].part != out[c + 1].part)
            out[kept++] = out[c];
    warn(s, WARN_CHANNEL_REPLACED, count - kept, "animation %u", r->index);
    return kept;
}

/* ---- keys ---- */

static void check_spline(const reader *r, const source *c, size_t keys, const char *node)
{
    const size_t elements = gltf_count(r->g, c->values, r->names.keys);
    if (elements != 3 * keys)
        give_up(TH_ERR_INPUT, "clip %s, node %s: a CUBICSPLINE of %zu keys needs %zu elements, accessor %u has %zu",
                read_name(r->g->s, &r->out->mName), node, keys, 3 * keys, c->values, elements);
}

static void read_rotations(struct aiNodeAnim *out, const float *times, const float *values, size_t count, size_t stride)
{
    for (size_t k = 0; k < count; k++) {
        const float *v = values + k * stride;
        out->mRotationKeys[k] = (struct aiQuatKey){(double)(times[k] * TICKS_PER_SECOND), {v[3], v[0], v[1], v[2]}};
    }
}

static void read_vectors(struct aiVectorKey *out, const float *times, const float *values, size_t count, size_t stride)
{
    for (size_t k = 0; k < count; k++) {
        const float *v = values + k * stride;
        out[k] = (struct aiVectorKey){(double)(times[k] * TICKS_PER_SECOND), {v[0], v[1], v[2]}};
    }
}

static void extend_clip(reader *r, const float *times, size_t count)
{
    if (count > 0 && (double)(times[count - 1] * TICKS_PER_SECOND) > r->out->mDuration)
        r->out->mDuration = (double)(times[count - 1] * TICKS_PER_SECOND);
}

static void read_part(reader *r, const source *c, struct aiNodeAnim *out, gltf_channel *channel)
{
    scene *s = r->g->s;
    const bool turns = c->part == TH_ROTATION;
    const size_t count = gltf_count(r->g, c->times, r->names.times);
    uint32_t one = 1, width = turns ? 4 : 3;
    if (c->spline)
        check_spline(r, c, count, read_name(s, &out->mNodeName));
    const float *times = gltf_read_floats(r->g, c->times, GLTF_FLOAT, &one, r->names.times);
    float *values = gltf_read_floats(r->g, c->values, turns ? GLTF_FLOAT | GLTF_UNORM | GLTF_SNORM : GLTF_FLOAT, &width,
                                     r->names.keys);
    const float *first = c->spline ? values + width : values;
    const size_t stride = c->spline ? 3 * width : width;
    if (turns) {
        out->mNumRotationKeys = (unsigned)count;
        out->mRotationKeys = make(s, struct aiQuatKey, count + 1);
        read_rotations(out, times, first, count, stride);
    } else {
        struct aiVectorKey *keys = make(s, struct aiVectorKey, count + 1);
        read_vectors(keys, times, first, count, stride);
        *(c->part == TH_SCALE ? &out->mNumScalingKeys : &out->mNumPositionKeys) = (unsigned)count;
        *(c->part == TH_SCALE ? &out->mScalingKeys : &out->mPositionKeys) = keys;
    }
    extend_clip(r, times, count);
    channel->keys.moved |= c->part;
    channel->keys.steps |= c->step ? c->part : 0;
    channel->keys.splines |= c->spline ? c->part : 0;
    channel->spline[turns ? 1 : c->part == TH_SCALE ? 2 : 0] = c->spline ? values : NULL;
}

static struct aiString name_node(const gltf *g, uint32_t node)
{
    const char *name = json_string_value(json_object_get(gltf_at(gltf_list(g, "nodes"), node), "name"));
    return g->node[node] ? g->node[node]->mName : gltf_string(name ? name : make_string(g->s, "nodes[%u]", node));
}

/* How many weights a key has: as many as there are numbers. weight_tracks.c checks that the targets are as many. */
static void read_weights(reader *r, const source *c)
{
    const gltf *g = r->g;
    const struct aiNode *ai = g->node[c->node];
    const struct aiString name = name_node(g, c->node);
    const size_t count = gltf_count(g, c->times, r->names.times), numbers = gltf_count(g, c->values, r->names.weights),
                 rows = count * (c->spline ? 3 : 1);
    uint32_t one = 1;
    float *times = gltf_read_floats(r->g, c->times, GLTF_FLOAT, &one, r->names.times);
    const float *values =
        gltf_read_floats(r->g, c->values, GLTF_FLOAT | GLTF_UNORM | GLTF_SNORM, &one, r->names.weights);
    extend_clip(r, times, count);
    for (size_t k = 0; k < count; k++)
        times[k] *= TICKS_PER_SECOND;
    r->weights[r->weight_count++] =
        (weight_keys){.joint = ai ? (uint32_t)(ai - g->ai->mRootNode) : TH_NO_INDEX,
                      .node = read_name(g->s, &name),
                      .width = rows > 0 && numbers % rows == 0 ? (uint32_t)(numbers / rows) : 0,
                      .count = (uint32_t)count,
                      .times = times,
                      .values = values,
                      .steps = c->step,
                      .splines = c->spline};
}

/* ---- clips ---- */

static void begin_channel(reader *r, uint32_t node, struct aiNodeAnim *out, gltf_channel *channel)
{
    const gltf *g = r->g;
    const struct aiNode *ai = g->node[node];
    out->mNodeName = name_node(g, node);
    channel->joint = ai ? (uint32_t)(ai - g->ai->mRootNode) : TH_NO_INDEX;
    if (ai)
        channel->keys = (authorship){.has_rest = g->has_rest[channel->joint], .rest = g->rest[channel->joint]};
}

static void read_animation(gltf *g, uint32_t index, struct aiAnimation *out)
{
    const json_t *animation = gltf_at(gltf_list(g, "animations"), index);
    const char *name = json_string_value(json_object_get(animation, "name"));
    const size_t most = json_array_size(json_object_get(animation, "channels"));
    reader r = {g, index, out, make(g->s, gltf_channel, most + 1), make(g->s, weight_keys, most + 1), 0, {0}};
    name_parts(&r);
    source *sources = make(g->s, source, most + 1);
    out->mName = gltf_string(name ? name : "");
    out->mTicksPerSecond = TICKS_PER_SECOND;
    out->mChannels = make(g->s, struct aiNodeAnim *, most + 1);
    const size_t count = list_sources(&r, animation, sources);
    for (size_t c = 0; c < count; c++) {
        if (sources[c].part == WEIGHTS) {
            read_weights(&r, &sources[c]);
            continue;
        }
        if (c == 0 || sources[c].node != sources[c - 1].node) {
            struct aiNodeAnim *channel = make(g->s, struct aiNodeAnim, 1);
            begin_channel(&r, sources[c].node, channel, &r.channels[out->mNumChannels]);
            out->mChannels[out->mNumChannels++] = channel;
        }
        read_part(&r, &sources[c], out->mChannels[out->mNumChannels - 1], &r.channels[out->mNumChannels - 1]);
    }
    g->clips[index] = r.channels;
    g->weight_keys[index] = r.weights;
    g->weight_key_counts[index] = r.weight_count;
}

void gltf_build_clips(gltf *g)
{
    const uint32_t count = (uint32_t)json_array_size(gltf_list(g, "animations"));
    g->ai->mAnimations = make(g->s, struct aiAnimation *, count + 1);
    g->ai->mNumAnimations = count;
    g->clips = make(g->s, gltf_channel *, count + 1);
    g->weight_keys = make(g->s, weight_keys *, count + 1);
    g->weight_key_counts = make(g->s, uint32_t, count + 1);
    for (uint32_t a = 0; a < count; a++) {
        g->ai->mAnimations[a] = make(g->s, struct aiAnimation, 1);
        read_animation(g, a, g->ai->mAnimations[a]);
    }
}

/* ---- queries of clips.c and weight_tracks.c ---- */

const weight_keys *find_weight_keys(const scene *s, uint32_t clip, uint32_t *out_count)
{
    *out_count = s->gltf->weight_key_counts[clip];
    return s->gltf->weight_keys[clip];
}

uint32_t find_authorship(const scene *s, uint32_t clip, uint32_t channel, authorship *out)
{
    *out = s->gltf->clips[clip][channel].keys;
    return s->gltf->clips[clip][channel].joint;
}

const float *read_spline(const scene *s, uint32_t clip, uint32_t channel, uint32_t part)
{
    return s->gltf->clips[clip][channel].spline[part == TH_ROTATION ? 1 : part == TH_SCALE ? 2 : 0];
}
