/* Materials: a name, colours, a texture, and what alpha means. Images stay encoded as in the file (PNG, JPEG, ...); the
 * renderer decodes them. */
#include "materials.h"

#include "files.h"

#include <assimp/material.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXTURE_MAX_BYTES ((size_t)256 << 20)

/* ---- pictures that have several names ---- */

/* Where a picture is. Names that differ may mean the same: "a.png", "./a.png" and a link to it. */
struct picture_source {
    const void *embedded; /* else the file: */
    dev_t device;
    ino_t file;
};

/* Notes where the picture of the next texture is. If a texture before has it, takes its bytes and returns true. */
static bool share_picture(scene *s, struct picture_source from, th_texture *out)
{
    const uint32_t count = s->model->texture_count;
    for (uint32_t t = 0; t < count; t++) {
        const struct picture_source *other = &s->picture_sources[t];
        if (s->model->textures[t].bytes && other->embedded == from.embedded && other->device == from.device &&
            other->file == from.file) {
            out->bytes = s->model->textures[t].bytes;
            out->byte_count = s->model->textures[t].byte_count;
            return true;
        }
    }
    s->picture_sources[count] = from;
    return false;
}

/* A picture inside the file. "*3" is an index. FBX names embedded images by their original path. */
static const struct aiTexture *find_embedded(const scene *s, const char *name)
{
    unsigned count = s->ai->mNumTextures;
    if (name[0] == '*') {
        unsigned long index = strtoul(name + 1, NULL, 10);
        return index < count ? s->ai->mTextures[index] : NULL;
    }
    for (unsigned t = 0; t < count; t++) {
        const char *original = s->ai->mTextures[t]->mFilename.data;
        if (original[0] && strcmp(file_part(original), file_part(name)) == 0)
            return s->ai->mTextures[t];
    }
    return NULL;
}

/* A picture beside the file. */
static bool read_picture(scene *s, const char *name, th_texture *out, bool *outside)
{
    const int file = open_beside(s, name);
    struct stat status;
    *outside |= file < 0 && errno == EXDEV;
    if (file < 0 || fstat(file, &status) != 0)
        return false;
    if (share_picture(s, (struct picture_source){NULL, status.st_dev, status.st_ino}, out)) {
        close(file);
        return true;
    }
    if ((size_t)status.st_size > TEXTURE_MAX_BYTES) {
        warn(s, WARN_TEXTURE_LARGE, 1, "%s", out->name);
        close(file);
    } else {
        out->bytes = (const uint8_t *)read_open_file(file, &out->byte_count);
    }
    return true;
}

static void find_picture(scene *s, th_texture *out)
{
    const struct aiTexture *embedded = find_embedded(s, out->name);
    const uint8_t *inside = embedded ? (const uint8_t *)embedded->pcData : NULL;
    if (inside && share_picture(s, (struct picture_source){.embedded = inside}, out))
        return;
    if (inside && embedded->mHeight > 0) {
        /* Raw BGRA pixels become TGA type 2 with the first row on top, the simplest container that every image library
         * reads (Truevision, TGA File Format Specification, version 2.0, 1991). */
        const uint32_t w = embedded->mWidth, h = embedded->mHeight;
        if (w > UINT16_MAX || h > UINT16_MAX || (size_t)w * h * 4 > TEXTURE_MAX_BYTES) {
            warn(s, WARN_TEXTURE_LARGE, 1, "%s", out->name);
            return;
        }
        enum { BGRA = 32, ALPHA_BITS = 8, TOP_FIRST = 0x20, TRUE_COLOUR = 2 };
        const uint8_t head[18] = {
            [2] = TRUE_COLOUR,        [12] = (uint8_t)w, [13] = (uint8_t)(w >> 8),     [14] = (uint8_t)h,
            [15] = (uint8_t)(h >> 8), [16] = BGRA,       [17] = ALPHA_BITS | TOP_FIRST};
        const size_t size = (size_t)w * h * sizeof *embedded->pcData;
        uint8_t *bytes = make(s, uint8_t, sizeof head + size);
        memcpy(bytes, head, sizeof head);
        memcpy(bytes + sizeof head, inside, size);
        out->bytes = bytes;
        out->byte_count = sizeof head + size;
        return;
    }
    if (inside && embedded->mWidth > 0) {
        out->bytes = inside;
        out->byte_count = embedded->mWidth;
        return;
    }
    bool outside = false;
    const bool found =
        read_picture(s, out->name, out, &outside) || read_picture(s, file_part(out->name), out, &outside);
    warn(s, WARN_TEXTURE_OUTSIDE, outside && !embedded && out->name[0] != '*', "%s", out->name);
    warn(s, WARN_TEXTURE_MISSING, !found, "%s", out->name);
}

static bool same_sampler(const th_texture *texture, const th_sampler *sampler)
{
    return memcmp(&texture->sampler, sampler, sizeof *sampler) == 0;
}

/* A picture that several names mean is one texture, of the first name, for each way to read it. */
uint32_t find_texture(scene *s, th_texture *textures, const char *name, th_sampler sampler)
{
    for (uint32_t t = 0; t < s->model->texture_count; t++)
        if (strcmp(textures[t].name, name) == 0 && same_sampler(&textures[t], &sampler))
            return t;
    th_texture *texture = &textures[s->model->texture_count];
    *texture = (th_texture){.name = name, .sampler = sampler};
    find_picture(s, texture);
    for (uint32_t t = 0; t < s->model->texture_count; t++)
        if (texture->bytes && textures[t].bytes == texture->bytes && same_sampler(&textures[t], &sampler))
            return t;
    return s->model->texture_count++;
}

/* ---- materials ---- */

void set_base_color(scene *s, const float rgba[4], th_material *out)
{
    const bool good = isfinite(rgba[0]) && isfinite(rgba[1]) && isfinite(rgba[2]) && isfinite(rgba[3]);
    warn(s, WARN_COLOR_NOT_FINITE, !good, "material %s", out->name);
    for (int i = 0; i < 4; i++)
        out->base_color[i] = good ? rgba[i] : 1;
}

/* Without the texture, its factor, which is white as a rule, would make all of the material glow. */
void set_emissive(scene *s, const float rgb[3], bool is_textured, th_material *out)
{
    const bool good = isfinite(rgb[0]) && isfinite(rgb[1]) && isfinite(rgb[2]);
    warn(s, WARN_EMISSIVE_TEXTURE, is_textured, "material %s", out->name);
    warn(s, WARN_COLOR_NOT_FINITE, !is_textured && !good, "material %s", out->name);
    for (int i = 0; i < 3 && good && !is_textured; i++)
        out->emissive[i] = fmaxf(rgb[i], 0);
}

static const char *texture_name(scene *s, const struct aiMaterial *in, enum aiTextureType type)
{
    struct aiString text = {0};
    aiGetMaterialString(in, AI_MATKEY_TEXTURE(type, 0), &text);
    return text.data[0] ? read_name(s, text.data) : "";
}

static th_sampler read_sampler(scene *s, const struct aiMaterial *in, enum aiTextureType type, const char *material)
{
    static const uint8_t wraps[] = {[aiTextureMapMode_Wrap] = TH_WRAP_REPEAT,
                                    [aiTextureMapMode_Clamp] = TH_WRAP_CLAMP,
                                    [aiTextureMapMode_Decal] = TH_WRAP_CLAMP,
                                    [aiTextureMapMode_Mirror] = TH_WRAP_MIRROR};
    int modes[] = {aiTextureMapMode_Wrap, aiTextureMapMode_Wrap};
    unsigned one[] = {1, 1};
    th_sampler out = {0};
    aiGetMaterialIntegerArray(in, AI_MATKEY_MAPPINGMODE_U(type, 0), &modes[0], &one[0]);
    aiGetMaterialIntegerArray(in, AI_MATKEY_MAPPINGMODE_V(type, 0), &modes[1], &one[1]);
    for (int i = 0; i < 2; i++)
        out.wrap[i] = (unsigned)modes[i] < sizeof wraps ? wraps[modes[i]] : TH_WRAP_REPEAT;
    struct aiUVTransform moved = {{0, 0}, {1, 1}, 0};
    aiGetMaterialUVTransform(in, AI_MATKEY_UVTRANSFORM(type, 0), &moved);
    const bool is_moved = moved.mTranslation.x != 0 || moved.mTranslation.y != 0 || moved.mScaling.x != 1 ||
                          moved.mScaling.y != 1 || moved.mRotation != 0;
    warn(s, WARN_TEXTURE_MOVED, is_moved, "material %s", material);
    const bool ends = modes[0] == aiTextureMapMode_Decal || modes[1] == aiTextureMapMode_Decal;
    warn(s, WARN_TEXTURE_ENDS, ends, "material %s", material);
    return out;
}

static void read_material(scene *s, const struct aiMaterial *in, th_texture *textures, th_material *out)
{
    struct aiString text = {0};
    struct aiColor4D c = {1, 1, 1, 1}, light = {0, 0, 0, 1};
    unsigned one[] = {1, 1, 1}; /* numbers to read, and read */
    aiGetMaterialString(in, AI_MATKEY_NAME, &text);
    out->name = read_name(s, text.data);
    if (aiGetMaterialColor(in, AI_MATKEY_BASE_COLOR, &c) != aiReturn_SUCCESS)
        aiGetMaterialColor(in, AI_MATKEY_COLOR_DIFFUSE, &c);
    set_base_color(s, (float[4]){c.r, c.g, c.b, c.a}, out);

    const char *base = texture_name(s, in, aiTextureType_BASE_COLOR);
    const enum aiTextureType type = base[0] ? aiTextureType_BASE_COLOR : aiTextureType_DIFFUSE;
    base = texture_name(s, in, type);
    out->texture = base[0] ? find_texture(s, textures, base, read_sampler(s, in, type, out->name)) : TH_NO_INDEX;

    int both = 1; /* a format that does not say: as most programs show it */
    aiGetMaterialIntegerArray(in, AI_MATKEY_TWOSIDED, &both, &one[0]);
    out->double_sided = both != 0;

    /* An opacity, and many ways to say that a texture's alpha counts. Exporters disagree on whether 0 is opaque; what
     * is invisible would not have been exported. */
    float opacity = 1;
    int flags = 0;
    out->alpha_cutoff = 0.5F;
    aiGetMaterialFloatArray(in, AI_MATKEY_OPACITY, &opacity, &one[1]);
    aiGetMaterialIntegerArray(in, AI_MATKEY_TEXFLAGS(aiTextureType_DIFFUSE, 0), &flags, &one[1]);
    const char *from = texture_name(s, in, aiTextureType_OPACITY);
    const bool own = from[0] && strcmp(from, base) != 0;
    warn(s, WARN_OPACITY_ZERO, opacity <= 0, "material %s", out->name);
    warn(s, WARN_OPACITY_TEXTURE, own, "material %s", out->name);
    if (opacity > 0 && opacity < 1) {
        out->alpha = TH_ALPHA_BLEND;
        out->base_color[3] = opacity;
    } else if (base[0] && ((from[0] && !own) || (flags & aiTextureFlags_UseAlpha))) {
        out->alpha = TH_ALPHA_MASK;
    }

    float strength = 1;
    const bool glows =
        texture_name(s, in, aiTextureType_EMISSIVE)[0] || texture_name(s, in, aiTextureType_EMISSION_COLOR)[0];
    aiGetMaterialColor(in, AI_MATKEY_COLOR_EMISSIVE, &light);
    aiGetMaterialFloatArray(in, AI_MATKEY_EMISSIVE_INTENSITY, &strength, &one[2]);
    set_emissive(s, (float[3]){strength * light.r, strength * light.g, strength * light.b}, glows, out);
}

void read_materials(scene *s)
{
    uint32_t count = s->gltf ? count_gltf_materials(s) : s->ai->mNumMaterials;
    th_texture *textures = make(s, th_texture, count);
    th_material *materials = make(s, th_material, count + 1);
    s->model->textures = textures;
    s->picture_sources = make(s, struct picture_source, count);
    if (s->gltf)
        read_gltf_materials(s, textures, materials);
    for (uint32_t m = 0; !s->gltf && m < count; m++)
        read_material(s, s->ai->mMaterials[m], textures, &materials[m]);
    if (count == 0) /* meshes refer to a material, so there must be one */
        materials[count++] =
            (th_material){.name = "default", .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX, .double_sided = true};
    s->model->materials = materials;
    s->model->material_count = count;
}
