/* Information that Assimp 5.2.5 drops from glTF files: which keys are in the file, how they are interpolated, and how
 * the file decomposes a node's transform (Khronos, glTF 2.0 Specification, 2021, sections 3.5 and 3.11). */
#include "gltf.h"
#include "ipc.h"

#include <assimp/cimport.h>
#include <stdlib.h>
#include <string.h>

/* A channel of the file. A later one for the same part of the same node replaces it. */
typedef struct gltf_channel {
    uint32_t node, part;
    size_t order;
    const char *mode;
    const json_t *sampler;
} gltf_channel;

struct gltf {
    json_t *file;
    uint32_t *node; /* by joint: node of the file; TH_NO_INDEX: unknown */
    uint32_t clip_count;
    gltf_channel **channels; /* by clip: sorted by node, part and order */
    size_t *channel_counts;
    gltf_buffer *buffers;
};

/* ---- nodes: matches joints with Assimp's tree ---- */

static const json_t *node_at(const gltf *g, uint32_t index)
{
    return gltf_at(json_object_get(g->file, "nodes"), index);
}

static void match_children(scene *s, const json_t *children, uint32_t parent)
{
    uint32_t joint = parent + 1;
    size_t c;
    const json_t *child;
    json_array_foreach(children, c, child)
    {
        if (joint >= s->nodes.end[parent] || !json_is_number(child))
            return;
        uint32_t node = (uint32_t)json_number_value(child);
        s->gltf->node[joint] = node;
        match_children(s, json_object_get(node_at(s->gltf, node), "children"), joint);
        joint = s->nodes.end[joint];
    }
}

/* Assimp adds a root of its own above several roots. */
static void match_nodes(scene *s)
{
    const json_t *file = s->gltf->file;
    uint32_t index = gltf_index(file, "scene");
    const json_t *shown = gltf_at(json_object_get(file, "scenes"), index == TH_NO_INDEX ? 0 : index);
    const json_t *roots = json_object_get(shown, "nodes"), *only = json_array_get(roots, 0);
    if (json_array_size(roots) != 1 || !json_is_number(only)) {
        match_children(s, roots, 0);
        return;
    }
    s->gltf->node[0] = (uint32_t)json_number_value(only);
    match_children(s, json_object_get(node_at(s->gltf, s->gltf->node[0]), "children"), 0);
}

/* ---- channels ---- */

static gltf_channel read_channel(const json_t *animation, const json_t *channel, size_t order)
{
    const json_t *target = json_object_get(channel, "target");
    const json_t *sampler = gltf_at(json_object_get(animation, "samplers"), gltf_index(channel, "sampler"));
    const char *mode = json_string_value(json_object_get(sampler, "interpolation"));
    return (gltf_channel){gltf_index(target, "node"), gltf_part(channel), order, mode ? mode : "LINEAR", sampler};
}

static int compare_channels(const void *a, const void *b)
{
    const gltf_channel *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Assimp ignores channels without times, or with fewer values than times. */
static bool has_keys(const gltf *g, const gltf_channel *channel)
{
    const json_t *accessors = json_object_get(g->file, "accessors");
    const json_t *times = gltf_at(accessors, gltf_index(channel->sampler, "input"));
    const json_t *values = gltf_at(accessors, gltf_index(channel->sampler, "output"));
    return times && values &&
           json_number_value(json_object_get(times, "count")) <= json_number_value(json_object_get(values, "count"));
}

static void read_animation(scene *s, uint32_t clip, const json_t *animation)
{
    const json_t *list = json_object_get(animation, "channels"), *channel;
    gltf_channel *channels = make(s, gltf_channel, json_array_size(list));
    size_t c, count = 0, replaced = 0;
    json_array_foreach(list, c, channel)
    {
        channels[count] = read_channel(animation, channel, c);
        const bool aimed = channels[count].node != TH_NO_INDEX && channels[count].part != 0;
        const bool keyed = has_keys(s->gltf, &channels[count]);
        warn(s, WARN_CHANNEL_KEYLESS, aimed && !keyed, "animation %u", clip);
        count += aimed && keyed;
    }
    qsort(channels, count, sizeof *channels, compare_channels);
    for (c = 1; c < count; c++)
        replaced += channels[c].node == channels[c - 1].node && channels[c].part == channels[c - 1].part;
    warn(s, WARN_CHANNEL_REPLACED, replaced, "animation %u", clip);
    s->gltf->channels[clip] = channels;
    s->gltf->channel_counts[clip] = count;
}

/* ---- queries of clips.c ---- */

/* Returns the first channel of a node, or its insertion point. */
static size_t find_channels(const gltf *g, uint32_t clip, uint32_t node)
{
    size_t low = 0, high = g->channel_counts[clip];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->channels[clip][middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void read_numbers(const json_t *list, double out[], size_t count)
{
    if (json_array_size(list) == count)
        for (size_t i = 0; i < count; i++)
            out[i] = (double)(float)json_number_value(json_array_get(list, i));
}

bool find_authorship(const scene *s, uint32_t clip, uint32_t joint, authorship *out)
{
    const gltf *g = s->gltf;
    if (!g || clip >= g->clip_count || g->node[joint] == TH_NO_INDEX)
        return false;
    *out = (authorship){.rest = {{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}}};
    uint32_t index = g->node[joint];
    for (size_t c = find_channels(g, clip, index); c < g->channel_counts[clip]; c++) {
        const gltf_channel *channel = &g->channels[clip][c];
        if (channel->node != index)
            break;
        bool step = strcmp(channel->mode, "STEP") == 0, spline = strcmp(channel->mode, "CUBICSPLINE") == 0;
        out->moved |= channel->part;
        out->steps = (out->steps & ~channel->part) | (step ? channel->part : 0);
        out->splines = (out->splines & ~channel->part) | (spline ? channel->part : 0);
    }
    const json_t *node = node_at(g, index);
    out->has_rest = !json_object_get(node, "matrix");
    read_numbers(json_object_get(node, "translation"), out->rest.translation, 3);
    read_numbers(json_object_get(node, "rotation"), out->rest.rotation, 4);
    read_numbers(json_object_get(node, "scale"), out->rest.scale, 3);
    return out->moved != 0;
}

float *read_spline(const scene *s, uint32_t clip, uint32_t joint, uint32_t part, uint32_t key_count, const char *where)
{
    const gltf *g = s->gltf;
    const json_t *sampler = NULL;
    uint32_t node = g->node[joint];
    const gltf_channel *channel = g->channels[clip] + find_channels(g, clip, node);
    const gltf_channel *end = g->channels[clip] + g->channel_counts[clip];
    for (; channel < end && channel->node == node; channel++)
        if (channel->part == part)
            sampler = channel->sampler;
    return read_gltf_floats(s, g->file, g->buffers, gltf_index(sampler, "output"), part == TH_ROTATION ? 4 : 3,
                            3 * (size_t)key_count, where);
}

/* ---- reading ---- */

const struct aiScene *import_file(scene *s)
{
    s->json = load_gltf_json(s->path);
    const bool bare = s->json && complete_skins(s->json), unaimed = s->json && drop_unaimed_channels(s, s->json),
               textures = s->json && complete_textures(s->json);
    struct aiPropertyStore *options = aiCreatePropertyStore();
    if (!options)
        give_up_memory();
    aiSetImportPropertyInteger(options, "AI_CONFIG_IMPORT_FBX_IGNORE_UP_DIRECTION", 1); /* fbx_space.c does it */
    return bare || unaimed || textures ? import_with_json(s, s->json)
                                       : aiImportFileExWithProperties(s->path, 0, NULL, options);
}

void read_gltf(scene *s)
{
    if (!has_format(s, "glTF2"))
        return;
    json_t *file = s->json;
    if (!file) {
        warn(s, WARN_CLIP_UNSURE, s->ai->mNumAnimations, "its JSON is not as it should be");
        return;
    }
    reject_unreadable(s, file);
    uint32_t clip_count = s->ai->mNumAnimations;
    s->gltf = make(s, gltf, 1);
    *s->gltf = (gltf){file,
                      make(s, uint32_t, s->nodes.count),
                      clip_count,
                      make(s, gltf_channel *, clip_count),
                      make(s, size_t, clip_count),
                      make(s, gltf_buffer, json_array_size(json_object_get(file, "buffers")))};
    for (uint32_t j = 0; j < s->nodes.count; j++)
        s->gltf->node[j] = TH_NO_INDEX;
    match_nodes(s);
    for (uint32_t a = 0; a < clip_count; a++)
        read_animation(s, a, json_array_get(json_object_get(file, "animations"), a));
}
