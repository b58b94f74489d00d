/* Animations (section 3.11). */
#include "gltf.h"
#include "import/clips.h"

#include <stdlib.h>
#include <string.h>

enum { TICKS_PER_SECOND = 1000 };

/* The part of a node that is no transform; the others are TH_TRANSLATION and so on. Sorted, it is a node's last. */
enum { WEIGHTS = 8 };

/* A channel of the file. A later one for the same part of the same node replaces it. */
typedef struct source {
    uint32_t node, part;
    size_t order;
    uint32_t times_accessor, values_accessor;
    bool steps, spline;
    uint32_t count;     /* of the keys */
    uint32_t width;     /* numbers a key; of a spline each has three times as many */
    const float *times; /* in seconds */
    const float *values;
} source;

/* As exact as th_clip_ticks: a key is at its own time, and two keys a float apart are two. */
static double ticks_at(const source *from, size_t k)
{
    return (double)from->times[k] * TICKS_PER_SECOND;
}

static uint32_t part_of(const json_t *target)
{
    static const struct {
        const char *path;
        uint32_t part;
    } parts[] = {{"translation", TH_TRANSLATION}, {"rotation", TH_ROTATION}, {"scale", TH_SCALE}, {"weights", WEIGHTS}};
    const char *path = json_string_value(json_object_get(target, "path"));
    for (size_t i = 0; path && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(path, parts[i].path) == 0)
            return parts[i].part;
    return 0;
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

static const char *name_node(const gltf *g, uint32_t node)
{
    return read_name(g->s, g->ai->mRootNode[gltf_joint(g, node)].mName.data);
}

/* Lists the channels that can be played, sorted by node and part, with their keys. Warns about the others. Returns how
 * many there are. */
static size_t read_sources(gltf *g, clip *c, uint32_t index, source *out)
{
    scene *s = g->s;
    /* For messages; made once, not for each of a thousand channels. */
    const char *animation = make_string(s, "animation %u", index),
               *target = make_string(s, "the target of %s", animation),
               *times = make_string(s, "the key times of %s", animation),
               *keys = make_string(s, "the keys of %s", animation),
               *weights = make_string(s, "the weights of %s", animation);
    const json_t *json = gltf_at(gltf_list(g, "animations"), index), *channel;
    size_t i, count = 0, kept = 0;
    json_array_foreach(json_object_get(json, "channels"), i, channel)
    {
        const json_t *aim = json_object_get(channel, "target");
        const json_t *sampler = gltf_at(json_object_get(json, "samplers"), gltf_index(channel, "sampler"));
        const char *mode = json_string_value(json_object_get(sampler, "interpolation"));
        const bool steps = mode && strcmp(mode, "STEP") == 0, spline = mode && strcmp(mode, "CUBICSPLINE") == 0;
        const source found = {.node = gltf_link(g, aim, "node", "nodes", target),
                              .part = part_of(aim),
                              .order = i,
                              .times_accessor = gltf_link(g, sampler, "input", "accessors", times),
                              .values_accessor = gltf_link(g, sampler, "output", "accessors", keys),
                              .steps = steps,
                              .spline = spline};
        const bool is_aimed = found.node != TH_NO_INDEX && found.part;
        warn(s, WARN_CHANNEL_UNAIMED, !is_aimed, "%s", animation);
        if (!is_aimed)
            continue;
        const bool is_keyed = found.times_accessor != TH_NO_INDEX && found.values_accessor != TH_NO_INDEX &&
                              gltf_count(g, found.times_accessor, times) <= gltf_count(g, found.values_accessor, keys);
        warn(s, WARN_CHANNEL_KEYLESS, !is_keyed, "%s", animation);
        if (!is_keyed)
            continue;
        const bool is_known = !mode || steps || spline || strcmp(mode, "LINEAR") == 0;
        warn(s, WARN_INTERPOLATION, !is_known, "%s: %s", animation, read_name(s, mode ? mode : ""));
        out[count++] = found;
    }
    qsort(out, count, sizeof *out, compare_sources);
    for (i = 0; i < count; i++)
        if (i + 1 == count || out[i].node != out[i + 1].node || out[i].part != out[i + 1].part)
            out[kept++] = out[i];
    warn(s, WARN_CHANNEL_REPLACED, count - kept, "%s", animation);

    for (source *each = out; each < out + kept; each++) {
        const bool turns = each->part == TH_ROTATION, morphs = each->part == WEIGHTS;
        const size_t key_count = gltf_count(g, each->times_accessor, times), rows = key_count * (each->spline ? 3 : 1),
                     elements = gltf_count(g, each->values_accessor, morphs ? weights : keys);
        uint32_t one = 1;
        each->width = morphs ? 1 : turns ? 4 : 3;
        warn(s, WARN_KEYS_MANY, !morphs && elements > rows, "%s", animation);
        if (each->spline && !morphs && elements != rows)
            give_up(TH_ERR_INPUT, "clip %s, node %s: a CUBICSPLINE of %zu keys needs %zu elements, accessor %u has %zu",
                    read_name(s, name_gltf_clip(s, index)), name_node(g, each->node), key_count, rows,
                    each->values_accessor, elements);
        each->times = gltf_read_floats(g, each->times_accessor, GLTF_FLOAT, &one, times);
        each->values = gltf_read_floats(g, each->values_accessor,
                                        turns || morphs ? GLTF_FLOAT | GLTF_UNORM | GLTF_SNORM : GLTF_FLOAT,
                                        &each->width, morphs ? weights : keys);
        if (morphs) /* a key has as many weights as there are numbers; 0: they do not fit */
            each->width = rows > 0 && elements % rows == 0 ? (uint32_t)(elements / rows) : 0;
        if (key_count > 0 && ticks_at(each, key_count - 1) > c->duration)
            c->duration = ticks_at(each, key_count - 1);
        each->count = (uint32_t)key_count;
    }
    return kept;
}

/* The keys of `width` of its numbers, from `first` on. */
static track read_keys(scene *s, const source *from, uint32_t first, uint32_t width)
{
    track t = make_track(width, from->count);
    float *spline = from->spline ? make(s, float, 3 * (size_t)from->count * width + 1) : NULL;
    t.steps = from->steps;
    t.spline = spline;
    for (uint32_t k = 0; k < from->count; k++) {
        const size_t row = from->spline ? 3 * (size_t)k : k;
        t.keys[k] = (key){.time = ticks_at(from, k), .order = k};
        memcpy(t.keys[k].value, from->values + (row + from->spline) * from->width + first, width * sizeof(float));
        for (size_t i = 0; spline && i < 3; i++)
            memcpy(spline + (row + i) * width, from->values + (row + i) * from->width + first, width * sizeof(float));
    }
    return t;
}

uint32_t count_gltf_clips(const scene *s)
{
    return (uint32_t)json_array_size(gltf_list(s->gltf, "animations"));
}

const char *name_gltf_clip(const scene *s, uint32_t index)
{
    const char *name = json_string_value(json_object_get(gltf_at(gltf_list(s->gltf, "animations"), index), "name"));
    return name ? name : "";
}

void read_gltf_clip(clip *c, uint32_t index)
{
    scene *s = c->s;
    gltf *g = s->gltf;
    const json_t *json = gltf_at(gltf_list(g, "animations"), index);
    const size_t most = json_array_size(json_object_get(json, "channels"));
    source *sources = make(s, source, most + 1);
    const size_t count = read_sources(g, c, index, sources);
    c->ticks_per_second = TICKS_PER_SECOND;
    c->channels = make(s, th_channel, count + 1);

    for (const source *at = sources, *end = sources + count; at < end;) {
        const uint32_t node = at->node, joint = gltf_joint(g, node);
        const bool moves = at->part != WEIGHTS && can_move(c, joint, name_node(g, node));
        track parts[3] = {{.width = 3}, {.width = 4}, {.width = 3}};
        for (int p = 0; p < 3 && moves; p++) {
            const bool has_keys = at < end && at->node == node && at->part == 1U << p;
            parts[p] = has_keys ? read_keys(s, at++, 0, parts[p].width) : make_track(parts[p].width, 0);
        }
        /* A rotation of another length at rest scales, but not where it is replaced. */
        if (moves)
            add_channel(c, joint, parts, parts[1].count > 0 && g->has_rest[joint] ? &g->rest[joint] : NULL);
        while (at < end && at->node == node)
            at++;
    }
    for (const source *at = sources; at < sources + count; at++) {
        if (at->part != WEIGHTS)
            continue;
        const uint32_t joint = gltf_joint(g, at->node);
        const char *node = name_node(g, at->node);
        const weight_set *set = &s->weights[joint];
        const bool fits = set->count > 0 && set->count == at->width, hidden = !fits && joint >= g->shown;
        warn(s, hidden ? WARN_CHANNEL_HIDDEN : WARN_CHANNEL_MORPHS, !fits, "clip %s, node %s", c->name, node);
        for (uint32_t w = 0; fits && w < set->count; w++) {
            track t = read_keys(s, at, w, 1);
            add_weight_track(c, set->first + w, node, &t);
        }
    }
}
