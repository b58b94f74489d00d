/* What is glTF 2.0, and what such a file needs of its reader (sections 3.2, 3.12 and 4.4). */
#include "gltf.h"
#include "import/files.h"
#include "import/importer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- extensions ---- */

/* read: nothing of it is lost. Otherwise what it says is ignored, and may show. */
static bool is_known(const char *extension, bool read)
{
    static const char *const good[] = {"KHR_draco_mesh_compression",
                                       "KHR_texture_transform",
                                       "KHR_lights_punctual",
                                       "KHR_mesh_quantization",
                                       "EXT_meshopt_compression",
                                       "KHR_meshopt_compression",
                                       "EXT_mesh_gpu_instancing",
                                       "EXT_mesh_features",
                                       "EXT_structural_metadata",
                                       "EXT_instance_features",
                                       "KHR_xmp",
                                       "KHR_xmp_json_ld",
                                       "KHR_physics_rigid_bodies",
                                       "KHR_texture_basisu", /* where that image is the only one, a warning says so */
                                       "EXT_texture_webp",
                                       "EXT_texture_avif",
                                       "MSFT_texture_dds"};
    static const char *const ignored[] = {"KHR_animation_pointer", "KHR_materials_variants", "KHR_node_visibility"};
    const char *const *list = read ? good : ignored;
    const size_t count = read ? sizeof good / sizeof *good : sizeof ignored / sizeof *ignored;
    for (size_t i = 0; i < count; i++)
        if (strcmp(extension, list[i]) == 0)
            return true;
    return read && !is_known(extension, false) &&
           (strncmp(extension, "KHR_materials_", 14) == 0 || strncmp(extension, "VRM", 3) == 0);
}

static void check_extensions(gltf *g)
{
    size_t i;
    const json_t *extension;
    json_array_foreach(gltf_list(g, "extensionsRequired"), i, extension)
    {
        const struct aiString text = gltf_string(json_is_string(extension) ? json_string_value(extension) : "");
        const char *name = read_name(g->s, &text);
        if (is_known(text.data, true) || !json_is_string(extension))
            continue;
        if (!is_known(text.data, false))
            give_up(TH_ERR_INPUT, "needs the glTF extension %s, which this importer does not know", name);
        warn(g->s, WARN_EXTENSION_IGNORED, 1, "%s", name);
    }
}

/* ---- the file ---- */

/* A .glb file begins with a header of 12 bytes, then the chunks, each with its size and kind before it. */
enum { HEAD = 12, CHUNK_HEAD = 8 };

static uint32_t word(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value); /* little-endian, as glTF */
    return value;
}

static bool is_binary(const uint8_t *bytes, size_t size)
{
    return size >= HEAD + CHUNK_HEAD && memcmp(bytes, "glTF", 4) == 0 && word(bytes + 4) == 2;
}

/* Avoids reading models of other formats completely. */
static bool may_be_gltf(const char *path)
{
    uint8_t head[HEAD + CHUNK_HEAD + 1] = {0};
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file)
        fclose(file);
    const char *text = (const char *)head + strspn((const char *)head, " \t\r\n");
    return is_binary(head, size) || *text == '{' || (size == sizeof head - 1 && *text == 0);
}

static bool is_named_so(const char *path)
{
    const char *ending = strrchr(path, '.');
    static const char *const endings[] = {".gltf", ".glb", ".vrm", ".vrma"};
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* Splits the file into its JSON and the chunk behind it. */
static gltf_bytes find_json(const uint8_t *bytes, size_t size, gltf_bytes *out_chunk)
{
    *out_chunk = (gltf_bytes){0};
    if (!is_binary(bytes, size))
        return (gltf_bytes){bytes, size, 0};
    const size_t json = word(bytes + HEAD), at = HEAD + CHUNK_HEAD + (json + 3) / 4 * 4;
    if (json > size - HEAD - CHUNK_HEAD)
        give_up(TH_ERR_INPUT, "its JSON is cut off");
    if (at < size && size - at >= CHUNK_HEAD && memcmp(bytes + at + 4, "BIN", 4) == 0) {
        const size_t chunk = word(bytes + at), left = size - at - CHUNK_HEAD;
        *out_chunk = (gltf_bytes){bytes + at + CHUNK_HEAD, chunk < left ? chunk : left, 0};
    }
    return (gltf_bytes){bytes + HEAD + CHUNK_HEAD, json, 0};
}

/* Returns the JSON of a glTF 2.0 file, or NULL for another format. */
static const json_t *load(scene *s, gltf_bytes *chunk)
{
    size_t size = 0;
    char why[160] = "";
    const uint8_t *bytes = may_be_gltf(s->path) ? (const uint8_t *)th_read_whole_file(s->path, &size) : NULL;
    if (!bytes)
        return NULL;
    const gltf_bytes text = find_json(bytes, size, chunk);
    const json_t *file = parse_gltf_json((const char *)text.at, text.size, why, sizeof why);
    if (!file && (is_binary(bytes, size) || is_named_so(s->path)))
        give_up(TH_ERR_INPUT, "its JSON cannot be read: %s", why);
    const char *version = json_string_value(json_object_get(json_object_get(file, "asset"), "version"));
    return is_binary(bytes, size) || (version && version[0] == '2') ? file : NULL;
}

bool read_gltf(scene *s)
{
    gltf_bytes chunk;
    const json_t *file = load(s, &chunk);
    if (!file)
        return false;
    gltf *g = s->gltf = make(s, gltf, 1);
    *g = (gltf){.s = s, .file = file, .chunk = chunk, .ai = make(s, struct aiScene, 1)};
    s->ai = g->ai;
    g->buffers = make(s, gltf_bytes, json_array_size(gltf_list(g, "buffers")) + 1);
    g->views = make(s, gltf_bytes, json_array_size(gltf_list(g, "bufferViews")) + 1);
    gltf_check_types(g);
    check_extensions(g);
    gltf_build_nodes(g);
    gltf_build_materials(g);
    gltf_build_meshes(g);
    gltf_build_clips(g);
    if (!g->ai->mRootNode)
        give_up(TH_ERR_INPUT, "there is no node in it");
    for (unsigned m = 0; m < g->ai->mNumMeshes; m++) {
        struct aiMesh *mesh = g->ai->mMeshes[m];
        const char *label = label_mesh(s, m);
        warn(s, WARN_MESH_NO_NORMALS, (mesh->mPrimitiveTypes & aiPrimitiveType_TRIANGLE) && !mesh->mNormals, "mesh %s",
             label);
        make_normals(s, mesh);
    }
    return true;
}
