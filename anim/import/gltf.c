/* What Assimp 5.2.5 leaves out of glTF files: how the keys of a track are joined. Read from the file's own JSON
 * (Khronos, glTF 2.0 Specification, 2021, sections 3.11 and 4.4). */
#include "scene.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define JSON_MAX_BYTES ((size_t)256 << 20)

static char *read_bytes(scene *s, FILE *file, size_t *size)
{
    if (fseek(file, 0, SEEK_END) != 0 || ftell(file) <= 0 || (size_t)ftell(file) > JSON_MAX_BYTES)
        return NULL;
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = make(s, char, *size);
    return fread(bytes, 1, *size, file) == *size ? bytes : NULL;
}

/* The JSON in a .gltf file, or in the first chunk of a .glb one: 12 bytes of head, then the chunk's length and type. */
static json_t *load_json(scene *s)
{
    size_t length = strlen(s->path), size = 0;
    bool text = length > 5 && strcasecmp(s->path + length - 5, ".gltf") == 0;
    FILE *file = fopen(s->path, "rb");
    char *bytes = file ? read_bytes(s, file, &size) : NULL;
    if (file)
        fclose(file);
    if (bytes && size > 20 && memcmp(bytes, "glTF", 4) == 0) {
        uint32_t chunk;
        memcpy(&chunk, bytes + 12, sizeof chunk);
        return chunk <= size - 20 ? json_loadb(bytes + 20, chunk, 0, NULL) : NULL;
    }
    return bytes && text ? json_loadb(bytes, size, 0, NULL) : NULL;
}

/* As Assimp calls it. */
static const char *node_name(scene *s, const json_t *list, json_int_t index)
{
    const json_t *node = index >= 0 ? json_array_get(list, (size_t)index) : NULL;
    const char *name = json_string_value(json_object_get(node, "name"));
    return name && name[0] ? make_text(s, "%s", name) : make_text(s, "nodes[%lld]", (long long)index);
}

static const char *sampler_mode(const json_t *animation, const json_t *channel)
{
    json_int_t index = json_integer_value(json_object_get(channel, "sampler"));
    const json_t *samplers = json_object_get(animation, "samplers");
    const json_t *sampler = index >= 0 ? json_array_get(samplers, (size_t)index) : NULL;
    const char *mode = json_string_value(json_object_get(sampler, "interpolation"));
    return mode ? mode : "LINEAR";
}

/* Steps are remembered for read_clips; splines can only be owned up to, since their tangents are lost. */
static void read_animation(scene *s, uint32_t clip, const json_t *animation, const json_t *list)
{
    const json_t *channels = json_object_get(animation, "channels");
    size_t count = json_array_size(channels), step_count = 0;
    step_track *steps = make(s, step_track, count);
    for (size_t c = 0; c < count; c++) {
        const json_t *channel = json_array_get(channels, c), *target = json_object_get(channel, "target");
        const char *path = json_string_value(json_object_get(target, "path")), *mode = sampler_mode(animation, channel);
        if (!path || strcmp(path, "weights") == 0)
            continue;
        const char *node = node_name(s, list, json_integer_value(json_object_get(target, "node")));
        repair(s, REPAIR_TRACK_SPLINE, strcmp(mode, "CUBICSPLINE") == 0, "node %s", node);
        if (strcmp(mode, "STEP") == 0)
            steps[step_count++] = (step_track){node, path[0]};
    }
    s->steps[clip] = steps;
    s->step_counts[clip] = step_count;
}

void read_steps(scene *s)
{
    uint32_t clip_count = s->ai->mNumAnimations;
    s->steps = make(s, step_track *, clip_count);
    s->step_counts = make(s, size_t, clip_count);
    json_t *file = clip_count > 0 ? load_json(s) : NULL;
    const json_t *animations = json_object_get(file, "animations");
    for (uint32_t a = 0; a < clip_count && a < json_array_size(animations); a++)
        read_animation(s, a, json_array_get(animations, a), json_object_get(file, "nodes"));
    json_decref(file);
}

bool is_step(const scene *s, uint32_t clip, const char *node, char property)
{
    for (size_t t = 0; t < s->step_counts[clip]; t++)
        if (s->steps[clip][t].property == property && strcmp(s->steps[clip][t].node, node) == 0)
            return true;
    return false;
}
