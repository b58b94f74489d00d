/* Rejects what Assimp 5.2.5 would misread silently: unknown extensions, integers that it reads as floats, and too few
 * matrices. */
#include "gltf.h"
#include "ipc.h"

#include <stdio.h>
#include <string.h>

/* ---- extensions ---- */

/* Extensions that Assimp reads, or that affect nothing we draw (a material is a colour and a texture). */
static bool is_known(const char *extension)
{
    static const char *const known[] = {
        "KHR_draco_mesh_compression", "KHR_texture_basisu", "KHR_texture_transform", "KHR_lights_punctual",
        "EXT_texture_webp",           "EXT_texture_avif",   "MSFT_texture_dds"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(extension, known[i]) == 0)
            return true;
    return strncmp(extension, "KHR_materials_", 14) == 0 && strcmp(extension, "KHR_materials_variants") != 0;
}

static void reject_extensions(scene *s, const json_t *file)
{
    size_t i;
    const json_t *extension;
    json_array_foreach(json_object_get(file, "extensionsRequired"), i, extension)
    {
        struct aiString name = {0};
        snprintf(name.data, sizeof name.data, "%s", json_is_string(extension) ? json_string_value(extension) : "");
        if (json_is_string(extension) && !is_known(name.data))
            give_up(TH_ERR_INPUT, "needs the glTF extension %s, which this importer does not know",
                    read_name(s, &name));
    }
}

/* ---- accessors ---- */

static const char *component_name(uint32_t type)
{
    switch (type) {
    case 5120:
        return "8-bit integers";
    case 5121:
        return "unsigned 8-bit integers";
    case 5122:
        return "16-bit integers";
    case 5123:
        return "unsigned 16-bit integers";
    case 5125:
        return "unsigned 32-bit integers";
    default:
        return "numbers of an unknown kind";
    }
}

static void reject_integers(const json_t *file, uint32_t accessor, const char *what)
{
    enum { FLOAT = 5126 };
    const json_t *a = gltf_at(json_object_get(file, "accessors"), accessor);
    uint32_t type = gltf_index(a, "componentType");
    if (a && type != FLOAT)
        give_up(TH_ERR_INPUT,
                "%s (accessor %u) are stored as %s%s (componentType %u), which this importer cannot read; convert the "
                "file to floats",
                what, accessor, json_is_true(json_object_get(a, "normalized")) ? "normalised " : "",
                component_name(type), type);
}

static void reject_attributes(scene *s, const json_t *file)
{
    static const char *const floats[] = {"POSITION", "NORMAL", "TEXCOORD_0", "WEIGHTS_0", "WEIGHTS_1"};
    size_t m, p;
    const json_t *mesh, *primitive;
    json_array_foreach(json_object_get(file, "meshes"), m, mesh)
    {
        json_array_foreach(json_object_get(mesh, "primitives"), p, primitive)
        {
            const json_t *attributes = json_object_get(primitive, "attributes");
            for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
                reject_integers(file, gltf_index(attributes, floats[i]),
                                make_string(s, "the %s of mesh %zu", floats[i], m));
        }
    }
}

static void reject_keys(scene *s, const json_t *file)
{
    size_t a, i;
    const json_t *animation, *sampler;
    json_array_foreach(json_object_get(file, "animations"), a, animation)
    {
        json_array_foreach(json_object_get(animation, "samplers"), i, sampler)
        {
            reject_integers(file, gltf_index(sampler, "input"), make_string(s, "the key times of animation %zu", a));
            reject_integers(file, gltf_index(sampler, "output"), make_string(s, "the keys of animation %zu", a));
        }
    }
}

/* ---- skins ---- */

/* If a skin has too few matrices, or too small ones, Assimp reads beyond them. */
static void reject_matrices(const json_t *file, const json_t *skin, const char *what)
{
    const uint32_t accessor = gltf_index(skin, "inverseBindMatrices");
    const json_t *a = gltf_at(json_object_get(file, "accessors"), accessor);
    const char *type = json_string_value(json_object_get(a, "type"));
    const double joints = (double)json_array_size(json_object_get(skin, "joints"));
    reject_integers(file, accessor, what);
    if (a && (!type || strcmp(type, "MAT4") != 0))
        give_up(TH_ERR_INPUT, "%s (accessor %u) are no matrices of 4 x 4", what, accessor);
    if (a && json_number_value(json_object_get(a, "count")) < joints)
        give_up(TH_ERR_INPUT, "%s (accessor %u) are %.0f, for %.0f joints", what, accessor,
                json_number_value(json_object_get(a, "count")), joints);
}

static void reject_skins(scene *s, const json_t *file)
{
    size_t i;
    const json_t *skin;
    json_array_foreach(json_object_get(file, "skins"), i, skin)
        reject_matrices(file, skin, make_string(s, "the inverse bind matrices of skin %zu", i));
}

void reject_unreadable(scene *s, const json_t *file)
{
    reject_extensions(s, file);
    reject_attributes(s, file);
    reject_keys(s, file);
    reject_skins(s, file);
}
