/* Materials and their textures (sections 3.8 and 3.9), as properties of Assimp's. */
#include "gltf.h"
#include "import/importer.h"

#include <assimp/material.h>
#include <string.h>

/* ---- images ---- */

/* The images inside the file get a name, "*" and their number; the others are named by their path. */
static struct aiString read_image(gltf *g, uint32_t index)
{
    const json_t *image = gltf_at(gltf_list(g, "images"), index);
    const char *uri = json_string_value(json_object_get(image, "uri"));
    if (uri && strncmp(uri, "data:", 5) != 0)
        return gltf_string(gltf_decode_percents(g->s, uri));
    const char *what = make_string(g->s, "image %u", index);
    const uint32_t view = gltf_link(g, image, "bufferView", "bufferViews", what);
    const gltf_bytes bytes = uri                   ? gltf_read_uri(g, uri)
                             : view != TH_NO_INDEX ? gltf_read_view(g, view, what)
                                                   : (gltf_bytes){0};
    struct aiTexture *out = make(g->s, struct aiTexture, 1);
    if (bytes.size > UINT32_MAX)
        give_up(TH_ERR_LIMIT, "%s is too large", what);
    out->mWidth = (unsigned)bytes.size;
    out->pcData = (struct aiTexel *)bytes.at;
    g->ai->mTextures[g->ai->mNumTextures] = out;
    return gltf_string(make_string(g->s, "*%u", g->ai->mNumTextures++));
}

static void read_images(gltf *g, struct aiString *names)
{
    const size_t count = json_array_size(gltf_list(g, "images"));
    g->ai->mTextures = make(g->s, struct aiTexture *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        names[i] = read_image(g, i);
}

/* The image of a texture: of the format itself, else of an extension with another encoding. */
static uint32_t image_of(const gltf *g, const json_t *texture, const char *what)
{
    static const char *const others[] = {"EXT_texture_webp", "EXT_texture_avif", "KHR_texture_basisu",
                                         "MSFT_texture_dds"};
    uint32_t image = gltf_link(g, texture, "source", "images", what);
    for (size_t i = 0; i < sizeof others / sizeof *others && image == TH_NO_INDEX; i++)
        image = gltf_link(g, gltf_extension(texture, others[i]), "source", "images", what);
    return image;
}

/* ---- materials ---- */

static void add(gltf *g, struct aiMaterial *m, const char *key, unsigned semantic, enum aiPropertyTypeInfo type,
                const void *data, size_t size)
{
    struct aiMaterialProperty *p = make(g->s, struct aiMaterialProperty, 1);
    *p = (struct aiMaterialProperty){gltf_string(key), semantic, 0, (unsigned)size, type, make(g->s, char, size)};
    memcpy(p->mData, data, size);
    m->mProperties[m->mNumProperties++] = p;
}

/* Assimp's strings begin with their length, and end with a zero. */
static void add_string(gltf *g, struct aiMaterial *m, const char *key, unsigned semantic, struct aiString text)
{
    add(g, m, key, semantic, aiPTI_String, &text, sizeof text.length + text.length + 1);
}

/* The colour and the texture, by whichever of the two models of light the material has. */
static const json_t *base_texture(const json_t *material)
{
    const json_t *metal = json_object_get(material, "pbrMetallicRoughness");
    const json_t *texture = json_object_get(metal, "baseColorTexture");
    const json_t *gloss = gltf_extension(material, "KHR_materials_pbrSpecularGlossiness");
    return texture ? texture : json_object_get(gloss, "diffuseTexture");
}

/* Gives up if the transform is not what its extension says: types of extensions are not checked elsewhere. */
static void check_transform(const json_t *transform, uint32_t material)
{
    static const char *const pairs[] = {"offset", "scale"};
    const json_t *rotation = json_object_get(transform, "rotation");
    bool good = !transform || (json_is_object(transform) && (!rotation || json_is_number(rotation)));
    for (int i = 0; i < 2 && good; i++) {
        const json_t *pair = json_object_get(transform, pairs[i]);
        good = !pair || (json_array_size(pair) == 2 && json_is_number(json_array_get(pair, 0)) &&
                         json_is_number(json_array_get(pair, 1)));
    }
    if (!good)
        give_up(TH_ERR_INPUT, "material %u: its KHR_texture_transform is not what the format says", material);
}

static void base_color(const json_t *material, double color[4])
{
    const json_t *metal = json_object_get(material, "pbrMetallicRoughness");
    const json_t *gloss = gltf_extension(material, "KHR_materials_pbrSpecularGlossiness");
    gltf_numbers(metal ? json_object_get(metal, "baseColorFactor") : json_object_get(gloss, "diffuseFactor"), color, 4);
}

static void add_color(gltf *g, struct aiMaterial *m, const char *key, const double color[], size_t count)
{
    float numbers[4];
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)color[i];
    add(g, m, key, 0, aiPTI_Float, numbers, count * sizeof *numbers);
}

static void add_texture(gltf *g, struct aiMaterial *m, unsigned kind, const json_t *texture,
                        const struct aiString *images, const char *of)
{
    const uint32_t index = gltf_link(g, texture, "index", "textures", of);
    const char *what = make_string(g->s, "texture %u", index);
    const uint32_t image = image_of(g, gltf_at(gltf_list(g, "textures"), index), what);
    if (image != TH_NO_INDEX && images)
        add_string(g, m, _AI_MATKEY_TEXTURE_BASE, kind, images[image]);
}

static void add_alpha(gltf *g, struct aiMaterial *m, const json_t *json)
{
    const char *mode = json_string_value(json_object_get(json, "alphaMode"));
    const json_t *cutoff = json_object_get(json, "alphaCutoff");
    const int both = json_is_true(json_object_get(json, "doubleSided"));
    add_string(g, m, "$mat.gltf.alphaMode", 0, gltf_string(mode ? mode : "OPAQUE"));
    add_color(g, m, "$mat.gltf.alphaCutoff", (double[]){cutoff ? json_number_value(cutoff) : 0.5}, 1);
    add(g, m, "$mat.twosided", 0, aiPTI_Integer, &both, sizeof both);
}

static void add_emissive(gltf *g, struct aiMaterial *m, const json_t *json, const struct aiString *images,
                         const char *what)
{
    double color[3] = {0, 0, 0};
    const json_t *strength =
        json_object_get(gltf_extension(json, "KHR_materials_emissive_strength"), "emissiveStrength");
    gltf_numbers(json_object_get(json, "emissiveFactor"), color, 3);
    add_color(g, m, "$clr.emissive", color, 3);
    add_texture(g, m, aiTextureType_EMISSIVE, json_object_get(json, "emissiveTexture"), images, what);
    if (strength)
        add_color(g, m, "$mat.emissiveIntensity", (double[]){json_number_value(strength)}, 1);
}

/* The keys and their meaning are those of Assimp's own reader. images: NULL if no mesh uses the material. */
static struct aiMaterial *read_material(gltf *g, const json_t *json, uint32_t index, const struct aiString *images)
{
    enum { PROPERTIES = 9 };
    struct aiMaterial *m = make(g->s, struct aiMaterial, 1);
    m->mProperties = make(g->s, struct aiMaterialProperty *, PROPERTIES);
    const char *name = json_string_value(json_object_get(json, "name"));
    const char *what = make_string(g->s, "material %u", index);
    double color[4] = {1, 1, 1, 1};
    add_string(g, m, "?mat.name", 0, gltf_string(name ? name : ""));
    base_color(json, color);
    add_color(g, m, "$clr.base", color, 4);
    add_texture(g, m, aiTextureType_BASE_COLOR, base_texture(json), images, what);
    add_alpha(g, m, json);
    add_emissive(g, m, json, images, what);
    return m;
}

gltf_uv gltf_base_uv(const gltf *g, uint32_t material)
{
    const json_t *texture = base_texture(gltf_at(gltf_list(g, "materials"), material));
    const json_t *transform = gltf_extension(texture, "KHR_texture_transform");
    check_transform(transform, material);
    gltf_uv uv = {.scale = {1, 1}};
    const uint32_t set = gltf_index(texture, "texCoord"), moved = gltf_index(transform, "texCoord");
    uv.set = moved != TH_NO_INDEX ? moved : set != TH_NO_INDEX ? set : 0;
    uv.rotation = json_number_value(json_object_get(transform, "rotation"));
    gltf_numbers(json_object_get(transform, "offset"), uv.offset, 2);
    gltf_numbers(json_object_get(transform, "scale"), uv.scale, 2);
    return uv;
}

/* By material; KHR_materials_variants lists others that nothing here will choose. */
static bool *find_used(const gltf *g)
{
    const json_t *mesh, *primitive;
    const size_t count = json_array_size(gltf_list(g, "materials"));
    bool *used = make(g->s, bool, count + 1);
    size_t m, p;
    json_array_foreach(gltf_list(g, "meshes"), m, mesh)
        json_array_foreach(json_object_get(mesh, "primitives"), p, primitive)
    {
        const uint32_t material = gltf_index(primitive, "material");
        if (material < count)
            used[material] = true;
    }
    return used;
}

/* A material for meshes without one stands last. */
void gltf_build_materials(gltf *g)
{
    const json_t *list = gltf_list(g, "materials");
    const uint32_t count = (uint32_t)json_array_size(list);
    struct aiString *images = make(g->s, struct aiString, json_array_size(gltf_list(g, "images")) + 1);
    const bool *used = find_used(g);
    read_images(g, images);
    g->ai->mMaterials = make(g->s, struct aiMaterial *, count + 1);
    for (uint32_t m = 0; m <= count; m++)
        g->ai->mMaterials[m] = read_material(g, gltf_at(list, m), m, used[m] ? images : NULL);
    g->ai->mNumMaterials = count + 1;
}
