/* Materials and their textures (sections 3.8 and 3.9). */
#include "gltf.h"
#include "import/files.h"
#include "import/materials.h"

#include <math.h>
#include <string.h>

/* Returns the name of an image. Images inside the file get "*" and their number; the others are named by their path. */
static const char *read_image(gltf *g, uint32_t index, struct aiTexture **textures)
{
    const json_t *image = gltf_at(gltf_list(g, "images"), index);
    const char *uri = json_string_value(json_object_get(image, "uri"));
    if (uri && strncmp(uri, "data:", 5) != 0)
        return decode_percents(g->s, uri);
    const char *what = make_string(g->s, "image %u", index);
    const uint32_t view = gltf_link(g, image, "bufferView", "bufferViews", what);
    const gltf_bytes bytes = uri                   ? gltf_read_uri(g, uri)
                             : view != TH_NO_INDEX ? gltf_read_view(g, view, what)
                                                   : (gltf_bytes){0};
    if (bytes.size > UINT32_MAX)
        give_up(TH_ERR_LIMIT, "%s is too large", what);
    struct aiTexture *out = textures[g->ai->mNumTextures] = make(g->s, struct aiTexture, 1);
    out->mWidth = (unsigned)bytes.size;
    out->pcData = (struct aiTexel *)bytes.at;
    return make_string(g->s, "*%u", g->ai->mNumTextures++);
}

/* The name of a texture's image, of the format itself, else of an extension with another encoding; "" if there is none.
 * names: by image; NULL: nothing uses the material. */
static const char *name_texture(const gltf *g, const json_t *texture, const char *material, const char *const *names)
{
    static const char *const others[] = {"EXT_texture_webp", "EXT_texture_avif", "KHR_texture_basisu",
                                         "MSFT_texture_dds"};
    const uint32_t index = gltf_link(g, texture, "index", "textures", material);
    const char *what = make_string(g->s, "texture %u", index);
    const json_t *json = gltf_at(gltf_list(g, "textures"), index);
    uint32_t image = gltf_link(g, json, "source", "images", what);
    for (size_t i = 0; i < sizeof others / sizeof *others && image == TH_NO_INDEX; i++)
        image = gltf_link(g, gltf_extension(json, others[i]), "source", "images", what);
    return image != TH_NO_INDEX && names ? read_name(g->s, names[image]) : "";
}

/* Returns where a number of a sampler is in `known`, which ends with 0. The first is for one that is missing or not
 * known. */
static uint8_t find_known(gltf *g, const json_t *sampler, const char *member, const uint16_t *known, const char *what)
{
    const size_t given = gltf_size(sampler, member, known[0], what);
    uint8_t k = 0;
    while (known[k] && known[k] != given)
        k++;
    warn(g->s, WARN_SAMPLER, known[k] == 0, "%s: %s %zu", what, member, given);
    return known[k] ? k : 0;
}

/* Of a texture (section 3.8.4). */
static th_sampler read_sampler(gltf *g, const json_t *texture, const char *material)
{
    /* In the order of TH_WRAP and TH_FILTER. The small ones are a pair for each filter of copies. */
    static const uint16_t wraps[] = {10497, 33071, 33648, 0}, large[] = {9729, 9728, 0},
                          small[] = {9987, 9986, 9985, 9984, 9729, 9728, 0};
    const json_t *json = gltf_at(gltf_list(g, "textures"), gltf_index(texture, "index"));
    const uint32_t index = gltf_link(g, json, "sampler", "samplers", material);
    const json_t *sampler = gltf_at(gltf_list(g, "samplers"), index);
    const char *what = make_string(g->s, "sampler %u", index);
    const uint8_t both = find_known(g, sampler, "minFilter", small, what);
    return (th_sampler){
        .wrap = {find_known(g, sampler, "wrapS", wraps, what), find_known(g, sampler, "wrapT", wraps, what)},
        .large = find_known(g, sampler, "magFilter", large, what),
        .small = both % 2,
        .copies = both / 2};
}

/* By whichever of the two models of light the material has. */
static const json_t *base_texture(const json_t *material)
{
    const json_t *metal = json_object_get(material, "pbrMetallicRoughness");
    const json_t *texture = json_object_get(metal, "baseColorTexture");
    const json_t *gloss = gltf_extension(material, "KHR_materials_pbrSpecularGlossiness");
    return texture ? texture : json_object_get(gloss, "diffuseTexture");
}

gltf_uv gltf_base_uv(const gltf *g, uint32_t material)
{
    static const char *const pairs[] = {"offset", "scale"};
    const json_t *texture = base_texture(gltf_at(gltf_list(g, "materials"), material));
    const json_t *transform = gltf_extension(texture, "KHR_texture_transform");
    const json_t *rotation = json_object_get(transform, "rotation");
    /* Types of extensions are not checked elsewhere. */
    bool good = !transform || (json_is_object(transform) && (!rotation || json_is_number(rotation)));
    for (int i = 0; i < 2 && good; i++) {
        const json_t *pair = json_object_get(transform, pairs[i]);
        good = !pair || (json_array_size(pair) == 2 && json_is_number(json_array_get(pair, 0)) &&
                         json_is_number(json_array_get(pair, 1)));
    }
    if (!good)
        give_up(TH_ERR_INPUT, "material %u: its KHR_texture_transform is not what the format says", material);

    const char *what = make_string(g->s, "a texture of material %u", material);
    const size_t set = gltf_size(transform, "texCoord", gltf_size(texture, "texCoord", 0, what), what);
    gltf_uv uv = {.set = (uint32_t)set, .scale = {1, 1}, .rotation = json_number_value(rotation)};
    gltf_numbers(json_object_get(transform, "offset"), uv.offset, 2);
    gltf_numbers(json_object_get(transform, "scale"), uv.scale, 2);
    return uv;
}

/* names: of images; NULL if no mesh uses the material. */
static void read_material(gltf *g, const json_t *json, uint32_t index, const char *const *names, th_texture *textures,
                          th_material *out)
{
    const char *what = make_string(g->s, "material %u", index);
    const char *name = json_string_value(json_object_get(json, "name"));
    out->name = read_name(g->s, name ? name : "");

    const json_t *metal = json_object_get(json, "pbrMetallicRoughness");
    const json_t *gloss = gltf_extension(json, "KHR_materials_pbrSpecularGlossiness");
    double color[4] = {1, 1, 1, 1}, light[3] = {0, 0, 0};
    gltf_numbers(metal ? json_object_get(metal, "baseColorFactor") : json_object_get(gloss, "diffuseFactor"), color, 4);
    set_base_color(g->s, (float[4]){(float)color[0], (float)color[1], (float)color[2], (float)color[3]}, out);
    const char *base = name_texture(g, base_texture(json), what, names);
    out->texture =
        base[0] ? find_texture(g->s, textures, base, read_sampler(g, base_texture(json), what)) : TH_NO_INDEX;

    const char *mode = json_string_value(json_object_get(json, "alphaMode"));
    const json_t *given = json_object_get(json, "alphaCutoff");
    const float cutoff = given ? (float)json_number_value(given) : 0.5F;
    out->double_sided = json_is_true(json_object_get(json, "doubleSided"));
    out->alpha_cutoff = isfinite(cutoff) ? fmaxf(cutoff, 0) : 0.5F;
    out->alpha = mode && strcmp(mode, "MASK") == 0    ? TH_ALPHA_MASK
                 : mode && strcmp(mode, "BLEND") == 0 ? TH_ALPHA_BLEND
                                                      : TH_ALPHA_OPAQUE;
    const bool is_odd = mode && out->alpha == TH_ALPHA_OPAQUE && strcmp(mode, "OPAQUE") != 0;
    warn(g->s, WARN_ALPHA_MODE, is_odd, "material %s: %s", out->name, read_name(g->s, mode ? mode : ""));

    const json_t *strong = json_object_get(gltf_extension(json, "KHR_materials_emissive_strength"), "emissiveStrength");
    const float strength = strong ? (float)json_number_value(strong) : 1;
    const bool glows = name_texture(g, json_object_get(json, "emissiveTexture"), what, names)[0];
    gltf_numbers(json_object_get(json, "emissiveFactor"), light, 3);
    set_emissive(g->s, (float[3]){strength * (float)light[0], strength * (float)light[1], strength * (float)light[2]},
                 glows, out);
}

void read_gltf_materials(scene *s, th_texture *textures, th_material *out)
{
    gltf *g = s->gltf;
    const json_t *list = gltf_list(g, "materials"), *mesh, *primitive;
    const uint32_t count = (uint32_t)json_array_size(list);
    const uint32_t image_count = (uint32_t)json_array_size(gltf_list(g, "images"));
    const char **names = make(s, const char *, image_count + 1);
    g->ai->mTextures = make(s, struct aiTexture *, image_count + 1);
    for (uint32_t i = 0; i < image_count; i++)
        names[i] = read_image(g, i, g->ai->mTextures);

    bool *used = make(s, bool, count + 1); /* KHR_materials_variants lists others that nothing here will choose */
    size_t m, p;
    json_array_foreach(gltf_list(g, "meshes"), m, mesh)
        json_array_foreach(json_object_get(mesh, "primitives"), p, primitive)
    {
        const uint32_t material = gltf_index(primitive, "material");
        if (material < count)
            used[material] = true;
    }
    for (uint32_t i = 0; i < count + 1; i++) /* one for meshes without a material stands last */
        read_material(g, gltf_at(list, i), i, used[i] ? names : NULL, textures, &out[i]);
}

uint32_t count_gltf_materials(const scene *s)
{
    return (uint32_t)json_array_size(gltf_list(s->gltf, "materials")) + 1;
}
