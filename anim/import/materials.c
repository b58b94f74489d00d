/* Materials: a name, a colour and a texture. Images stay encoded as in the file (PNG, JPEG, ...); the renderer decodes
 * them. */
#include "ipc.h"
#include "scene.h"

#include <assimp/material.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXTURE_MAX_BYTES ((size_t)256 << 20)

/* ---- pictures inside the file ---- */

/* Raw BGRA pixels become TGA type 2 with the first row on top, the simplest container that every image library reads
 * (Truevision, TGA File Format Specification, version 2.0, 1991). */
static void wrap_pixels(scene *s, const struct aiTexture *picture, th_texture *out)
{
    uint32_t w = picture->mWidth, h = picture->mHeight;
    if (w > UINT16_MAX || h > UINT16_MAX || (size_t)w * h * 4 > TEXTURE_MAX_BYTES) {
        warn(s, WARN_TEXTURE_LARGE, 1, "%s", out->name);
        return;
    }
    enum { BGRA = 32, ALPHA_BITS = 8, TOP_FIRST = 0x20, TRUE_COLOUR = 2 };
    const uint8_t head[18] = {
        [2] = TRUE_COLOUR,        [12] = (uint8_t)w, [13] = (uint8_t)(w >> 8),     [14] = (uint8_t)h,
        [15] = (uint8_t)(h >> 8), [16] = BGRA,       [17] = ALPHA_BITS | TOP_FIRST};
    size_t size = (size_t)w * h * sizeof *picture->pcData;
    uint8_t *bytes = make(s, uint8_t, sizeof head + size);
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, picture->pcData, size);
    out->bytes = bytes;
    out->byte_count = sizeof head + size;
}

static const char *file_part(const char *path)
{
    const char *slash = strrchr(path, '/'), *backslash = strrchr(path, '\\');
    const char *last = slash > backslash ? slash : backslash;
    return last ? last + 1 : path;
}

/* "*3" is an index. FBX names embedded images by their original path. */
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

/* ---- pictures beside the file ---- */

/* Only in the model's folder or below it, because the name is untrusted. */
static bool stays_inside(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/'), part += part != NULL)
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    return path[0] != '\0' && path[0] != '/' && !strchr(path, ':');
}

static bool read_picture(scene *s, const char *relative, th_texture *out)
{
    const char *folder_end = strrchr(s->path, '/');
    int folder = folder_end ? (int)(folder_end + 1 - s->path) : 0;
    const char *path = make_string(s, "%.*s%s", folder, s->path, relative);
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (file < 0)
        return false;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        return false;
    }
    if ((size_t)status.st_size > TEXTURE_MAX_BYTES) {
        warn(s, WARN_TEXTURE_LARGE, 1, "%s", out->name);
    } else {
        uint8_t *bytes = make(s, uint8_t, (size_t)status.st_size);
        ssize_t got = read(file, bytes, (size_t)status.st_size);
        out->bytes = got > 0 ? bytes : NULL;
        out->byte_count = got > 0 ? (size_t)got : 0;
    }
    close(file);
    return true;
}

static void find_picture(scene *s, th_texture *out)
{
    const struct aiTexture *embedded = find_embedded(s, out->name);
    if (embedded && embedded->pcData && embedded->mHeight > 0) {
        wrap_pixels(s, embedded, out);
        return;
    }
    if (embedded && embedded->pcData && embedded->mWidth > 0) {
        out->bytes = (const uint8_t *)embedded->pcData;
        out->byte_count = embedded->mWidth;
        return;
    }
    char *path = (char *)make_string(s, "%s", out->name);
    for (char *c = path; *c; c++)
        if (*c == '\\')
            *c = '/';
    bool inside = stays_inside(path);
    warn(s, WARN_TEXTURE_OUTSIDE, !inside && !embedded && path[0] != '*', "%s", out->name);
    if (inside && read_picture(s, path, out))
        return;
    if (stays_inside(file_part(path)) && read_picture(s, file_part(path), out))
        return;
    warn(s, WARN_TEXTURE_MISSING, 1, "%s", out->name);
}

/* ---- materials ---- */

static uint32_t find_texture(scene *s, th_texture *textures, const char *name)
{
    for (uint32_t t = 0; t < s->model->texture_count; t++)
        if (strcmp(textures[t].name, name) == 0)
            return t;
    th_texture *texture = &textures[s->model->texture_count];
    texture->name = name;
    find_picture(s, texture);
    return s->model->texture_count++;
}

static void read_material(scene *s, const struct aiMaterial *in, th_texture *textures, th_material *out)
{
    struct aiString text = {0};
    struct aiColor4D c = {1, 1, 1, 1};
    aiGetMaterialString(in, AI_MATKEY_NAME, &text);
    out->name = read_name(s, &text);
    if (aiGetMaterialColor(in, AI_MATKEY_BASE_COLOR, &c) != aiReturn_SUCCESS)
        aiGetMaterialColor(in, AI_MATKEY_COLOR_DIFFUSE, &c);
    if (!isfinite(c.r) || !isfinite(c.g) || !isfinite(c.b) || !isfinite(c.a)) {
        warn(s, WARN_COLOR_NOT_FINITE, 1, "material %s", out->name);
        c = (struct aiColor4D){1, 1, 1, 1};
    }
    memcpy(out->base_color, (float[4]){c.r, c.g, c.b, c.a}, sizeof out->base_color);

    out->texture = TH_NO_INDEX;
    text = (struct aiString){0};
    if (aiGetMaterialString(in, AI_MATKEY_TEXTURE(aiTextureType_BASE_COLOR, 0), &text) != aiReturn_SUCCESS)
        aiGetMaterialString(in, AI_MATKEY_TEXTURE(aiTextureType_DIFFUSE, 0), &text);
    if (text.data[0])
        out->texture = find_texture(s, textures, read_name(s, &text));
}

void read_materials(scene *s)
{
    uint32_t count = s->ai->mNumMaterials;
    th_texture *textures = make(s, th_texture, count);
    th_material *materials = make(s, th_material, count + 1);
    s->model->textures = textures;
    for (uint32_t m = 0; m < count; m++)
        read_material(s, s->ai->mMaterials[m], textures, &materials[m]);
    if (count == 0) /* meshes refer to a material, so there must be one */
        materials[count++] = (th_material){"default", {1, 1, 1, 1}, TH_NO_INDEX};
    s->model->materials = materials;
    s->model->material_count = count;
}
