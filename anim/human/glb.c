/* One bufferView and one accessor for each array of numbers. Joints are the first nodes, in their order; the mesh has
 * one behind them. Sections are those of the glTF 2.0 specification. */
#include <anim/glb.h>

#include <core/file.h>
#include <core/json.h>

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "glTF is little-endian, and numbers are put as they lie");

enum { U8 = 5121, U16 = 5123, U32 = 5125, F32 = 5126 };
enum { PLAIN = 0, VERTICES = 34962, INDICES = 34963 };

typedef struct glb {
    const th_model *model;
    json_t *document;
    FILE *stream; /* to bytes */
    char *bytes;
    size_t byte_count;
    size_t start; /* of the array that is put */
    bool failed;  /* out of memory */
} glb;

/* ---- the document ---- */

static void append(glb *g, json_t *array, json_t *value)
{
    g->failed |= json_array_append_new(array, value) != 0;
}

static void set(glb *g, json_t *object, const char *key, json_t *value)
{
    g->failed |= json_object_set_new(object, key, value) != 0;
}

/* Appends to a list, which begins with its first element: glTF allows no empty ones. Returns the index there. */
static json_int_t add(glb *g, json_t *object, const char *list, json_t *value)
{
    json_t *array = json_object_get(object, list);
    if (!array) {
        array = json_array();
        set(g, object, list, array);
    }
    append(g, array, value);
    return (json_int_t)json_array_size(array) - 1;
}

static json_t *numbers(glb *g, const double *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        append(g, array, json_real(values[i]));
    return array;
}

/* ---- arrays ---- */

static void begin(glb *g)
{
    fwrite("\0\0\0", 1, -g->start & 3, g->stream);
    g->failed |= fflush(g->stream) != 0;
    g->start = g->byte_count;
}

static void put(glb *g, const void *data, size_t size)
{
    fwrite(data, 1, size, g->stream);
}

static void put_number(glb *g, double number)
{
    put(g, &(float){(float)number}, sizeof(float));
}

/* Of what was put since begin. Returns its index. */
static json_int_t end(glb *g, const char *type, int component, size_t count, int target)
{
    g->failed |= fflush(g->stream) != 0 || ferror(g->stream);
    json_t *view = json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)g->start, "byteLength",
                             (json_int_t)(g->byte_count - g->start));
    if (target != PLAIN)
        set(g, view, "target", json_integer(target));
    json_t *accessor = json_pack("{s:I, s:i, s:I, s:s}", "bufferView", add(g, g->document, "bufferViews", view),
                                 "componentType", component, "count", (json_int_t)count, "type", type);
    const size_t width = strcmp(type, "SCALAR") == 0 ? 1 : strcmp(type, "VEC3") == 0 ? 3 : 0;
    if (component == F32 && width > 0 && !g->failed) { /* the least and the greatest of it, by component */
        const float *values = (const float *)(g->bytes + g->start);
        double low[3], high[3];
        for (size_t i = 0; i < count * width; i++) {
            low[i % width] = i < width ? (double)values[i] : fmin(low[i % width], (double)values[i]);
            high[i % width] = i < width ? (double)values[i] : fmax(high[i % width], (double)values[i]);
        }
        set(g, accessor, "min", numbers(g, low, width));
        set(g, accessor, "max", numbers(g, high, width));
    }
    if (component == U8)
        set(g, accessor, "normalized", json_true());
    g->start = g->byte_count;
    return add(g, g->document, "accessors", accessor);
}

/* ---- nodes and the skin ---- */

static void add_nodes(glb *g, const th_trs *rest)
{
    const th_model *model = g->model;
    for (uint32_t j = 0; j < model->joint_count; j++)
        add(g, g->document, "nodes",
            json_pack("{s:s, s:o, s:o}", "name", model->joints[j].name, "translation",
                      numbers(g, rest[j].translation, 3), "rotation", numbers(g, rest[j].rotation, 4)));
    json_t *nodes = json_object_get(g->document, "nodes"), *roots = json_pack("[i]", 0);
    for (uint32_t j = 1; j < model->joint_count; j++) {
        assert(model->joints[j].parent < j);
        add(g, json_array_get(nodes, model->joints[j].parent), "children", json_integer(j));
    }
    if (model->mesh_count > 0)
        append(g, roots,
               json_integer(add(g, g->document, "nodes",
                                json_pack("{s:s, s:i, s:i}", "name", model->meshes[0].name, "mesh", 0, "skin", 0))));
    add(g, g->document, "scenes", json_pack("{s:o}", "nodes", roots));
    set(g, g->document, "scene", json_integer(0));
}

static void add_skin(glb *g)
{
    json_t *joints = json_array();
    begin(g);
    for (uint32_t b = 0; b < g->model->bone_count; b++) {
        const float *m = g->model->bones[b].inverse_bind.m;
        const float columns[16] = {m[0], m[4], m[8],  0, m[1], m[5], m[9],  0,
                                   m[2], m[6], m[10], 0, m[3], m[7], m[11], 1};
        put(g, columns, sizeof columns);
        append(g, joints, json_integer(g->model->bones[b].joint));
    }
    const json_int_t matrices = end(g, "MAT4", F32, g->model->bone_count, PLAIN);
    add(g, g->document, "skins", json_pack("{s:I, s:o}", "inverseBindMatrices", matrices, "joints", joints));
}

/* ---- the mesh ---- */

/* A member of all vertices. Influences without weight have joint 0 (section 3.7.3.3). */
static json_t *member(glb *g, size_t offset, size_t size, const char *type, int component)
{
    const th_mesh *mesh = g->model->meshes;
    begin(g);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        th_vertex vertex = mesh->vertices[v];
        for (int k = 0; k < 4; k++)
            vertex.bone[k] = vertex.weight[k] > 0 ? vertex.bone[k] : 0;
        put(g, (const char *)&vertex + offset, size);
    }
    return json_integer(end(g, type, component, mesh->vertex_count, VERTICES));
}
#define MEMBER(g, name, count, type, component)                                                                        \
    member((g), offsetof(th_vertex, name), (count) * sizeof((th_vertex *)0)->name[0], (type), (component))

/* Of a morph target: what it moves, zeros between. */
static json_t *deltas(glb *g, const th_morph_target *target, size_t offset)
{
    static const float still[3];
    begin(g);
    for (uint32_t v = 0, d = 0; v < g->model->meshes[0].vertex_count; v++) {
        const bool moves = d < target->delta_count && target->deltas[d].vertex == v;
        put(g, moves ? (const char *)&target->deltas[d++] + offset : (const char *)still, sizeof still);
    }
    return json_integer(end(g, "VEC3", F32, g->model->meshes[0].vertex_count, VERTICES));
}

static void add_mesh(glb *g)
{
    const th_mesh *mesh = g->model->meshes;
    json_t *attributes =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "POSITION", MEMBER(g, position, 3, "VEC3", F32), "NORMAL",
                  MEMBER(g, normal, 3, "VEC3", F32), "TEXCOORD_0", MEMBER(g, uv, 2, "VEC2", F32), "COLOR_0",
                  MEMBER(g, color, 4, "VEC4", U8), "JOINTS_0", MEMBER(g, bone, 4, "VEC4", U16), "WEIGHTS_0",
                  MEMBER(g, weight, 4, "VEC4", F32));
    begin(g);
    put(g, mesh->indices, mesh->index_count * sizeof *mesh->indices);
    json_t *primitive = json_pack("{s:o, s:I, s:i}", "attributes", attributes, "indices",
                                  end(g, "SCALAR", U32, mesh->index_count, INDICES), "material", 0),
           *out = json_pack("{s:s, s:[O]}", "name", mesh->name, "primitives", primitive);
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        const th_weight *weight = &g->model->weights[mesh->targets[t].weight];
        add(g, primitive, "targets",
            json_pack("{s:o, s:o}", "POSITION", deltas(g, &mesh->targets[t], offsetof(th_morph_delta, position)),
                      "NORMAL", deltas(g, &mesh->targets[t], offsetof(th_morph_delta, normal))));
        add(g, out, "weights", json_real((double)weight->rest));
        if (t == 0)
            set(g, out, "extras", json_object());
        add(g, json_object_get(out, "extras"), "targetNames", json_string(weight->name));
    }
    json_decref(primitive);
    add(g, g->document, "meshes", out);

    const th_material *material = g->model->materials;
    double color[4];
    for (int i = 0; i < 4; i++)
        color[i] = (double)material->base_color[i];
    add(g, g->document, "materials",
        json_pack("{s:s, s:b, s:{s:o, s:i}}", "name", material->name, "doubleSided", material->double_sided,
                  "pbrMetallicRoughness", "baseColorFactor", numbers(g, color, 4), "metallicFactor", 0));
}

/* ---- clips ---- */

/* An animation while it is written. */
typedef struct animation {
    const th_clip *clip;
    json_t *samplers, *channels;
    const th_track *timed; /* the previous track: the next one usually has the same times */
    json_int_t input;      /* the accessor of those */
} animation;

static json_int_t times(glb *g, animation *a, const th_track *track)
{
    if (a->timed && a->timed->key_count == track->key_count &&
        memcmp(a->timed->times, track->times, track->key_count * sizeof *track->times) == 0)
        return a->input;
    begin(g);
    for (uint32_t i = 0; i < track->key_count; i++)
        put_number(g, track->times[i] / a->clip->ticks_per_second);
    a->timed = track;
    return a->input = end(g, "SCALAR", F32, track->key_count, PLAIN);
}

static void add_channel(glb *g, animation *a, json_int_t input, json_int_t output, json_int_t node, const char *path)
{
    append(g, a->channels,
           json_pack("{s:I, s:{s:I, s:s}}", "sampler", (json_int_t)json_array_size(a->samplers), "target", "node", node,
                     "path", path));
    append(g, a->samplers, json_pack("{s:I, s:I}", "input", input, "output", output));
}

static void add_track(glb *g, animation *a, const th_track *track, uint32_t joint, const char *path, const double *rest)
{
    const size_t width = strcmp(path, "rotation") == 0 ? 4 : 3;
    double moved = 0;
    for (size_t i = 0; i < width; i++)
        moved = fmax(moved, fabs((double)track->values[i] - rest[i]));
    if (track->key_count == 1 && moved < 5e-7) /* the node has it */
        return;
    assert(!track->steps && !track->tangents);
    const json_int_t input = times(g, a, track);
    begin(g);
    put(g, track->values, track->key_count * width * sizeof(float));
    add_channel(g, a, input, end(g, width == 4 ? "VEC4" : "VEC3", F32, track->key_count, PLAIN), joint, path);
}

/* A clip that moves nothing is left out: an animation has a channel. */
static void add_clip(glb *g, const th_clip *clip, const th_trs *rest)
{
    animation a = {.clip = clip, .samplers = json_array(), .channels = json_array()};
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const th_channel *channel = &clip->channels[c];
        const th_trs *still = &rest[channel->joint];
        add_track(g, &a, &channel->translation, channel->joint, "translation", still->translation);
        add_track(g, &a, &channel->rotation, channel->joint, "rotation", still->rotation);
        add_track(g, &a, &channel->scale, channel->joint, "scale", still->scale);
    }
    if (clip->weight_track_count > 0 && g->model->mesh_count > 0) { /* all weights of the mesh have the same keys */
        const th_weight_track *tracks = clip->weight_tracks;
        const uint32_t count = g->model->meshes[0].target_count, key_count = tracks[0].track.key_count;
        assert(clip->weight_track_count == count);
        const json_int_t input = times(g, &a, &tracks[0].track);
        begin(g);
        for (uint32_t i = 0; i < key_count; i++)
            for (uint32_t t = 0; t < count; t++) {
                assert(tracks[t].weight == g->model->meshes[0].targets[t].weight);
                put_number(g, (double)tracks[t].track.values[i]);
            }
        add_channel(g, &a, input, end(g, "SCALAR", F32, (size_t)key_count * count, PLAIN), g->model->joint_count,
                    "weights");
    }
    const bool moves = json_array_size(a.channels) > 0;
    json_t *json = json_pack("{s:s, s:o, s:o}", "name", clip->name, "samplers", a.samplers, "channels", a.channels);
    if (moves)
        add(g, g->document, "animations", json);
    else
        json_decref(json);
}

/* ---- the file ---- */

static void add_all(glb *g, const th_trs *rest)
{
    add_nodes(g, rest);
    if (g->model->mesh_count > 0) {
        add_skin(g);
        add_mesh(g);
    }
    for (uint32_t c = 0; c < g->model->clip_count; c++)
        add_clip(g, &g->model->clips[c], rest);
    if (g->byte_count > 0)
        add(g, g->document, "buffers", json_pack("{s:I}", "byteLength", (json_int_t)g->byte_count));
}

th_result th_glb_write(const th_model *model, const char *path, th_error *err)
{
    th_model *dressed = NULL;
    th_result result = model->appearances.count > 0 ? th_model_dress(model, 0, &dressed, err) : TH_OK;
    if (result != TH_OK)
        return result;
    glb g = {.model = dressed ? dressed : model,
             .document = json_pack("{s:{s:s, s:s}}", "asset", "version", "2.0", "generator", "throng")};
    g.stream = open_memstream(&g.bytes, &g.byte_count);
    th_trs *rest = calloc(model->joint_count, sizeof *rest);
    for (uint32_t j = 0; rest && j < model->joint_count; j++) {
        th_dmat34 matrix = th_dmat34_from(model->joints[j].rest);
        th_dmat34_decompose(&matrix, &rest[j]);
    }
    g.failed = !rest || !g.document || !g.stream;
    if (!g.failed)
        add_all(&g, rest);
    if (g.stream)
        g.failed |= fclose(g.stream) != 0;
    /* Nine digits reproduce every float exactly. */
    char *json = g.failed ? NULL : th_json_line(g.document, 9);
    if (json) {
        /* Header: magic, version, length; chunks: length, type, data padded to 4 bytes (section 4.4). */
        const size_t json_bytes = strlen(json), json_padding = -json_bytes & 3, padding = -g.byte_count & 3,
                     binary = g.byte_count > 0 ? 8 + g.byte_count + padding : 0;
        uint32_t header[] = {0x46546c67, 2, (uint32_t)(20 + json_bytes + json_padding + binary),
                             (uint32_t)(json_bytes + json_padding), 0x4e4f534a},
                 chunk[] = {(uint32_t)(g.byte_count + padding), 0x004e4942};
        char spaces[] = "   ", zeros[] = {0, 0, 0};
        const struct iovec parts[] = {{header, sizeof header}, {json, json_bytes},      {spaces, json_padding},
                                      {chunk, sizeof chunk},   {g.bytes, g.byte_count}, {zeros, padding}};
        result = th_file_replace(path, parts, binary > 0 ? 6 : 3, err);
    } else {
        result = th_fail(err, TH_ERR_MEMORY, "cannot write %s: out of memory", path);
    }
    free(json);
    free(rest);
    free(g.bytes);
    json_decref(g.document);
    th_model_destroy(dressed);
    return result;
}
