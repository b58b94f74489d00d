/* The parts of the glTF reader. What other files use of it is in scene.h. */
#ifndef TH_ANIM_IMPORT_GLTF_H
#define TH_ANIM_IMPORT_GLTF_H

#include "gltf_json.h"
#include "scene.h"

#include <stddef.h>

/* Gives up if the file has content that Assimp would misread silently. */
void reject_unreadable(scene *s, const json_t *file);

/* Adds the default inverse bind matrices to skins that have none. Returns false if there are no such skins. */
bool complete_skins(json_t *file);

/* Gives textures whose only image is that of an extension (WebP, KTX2, ...) this image, because Assimp does not see it.
 * Such images are not decoded, but named. Returns false if there are no such textures. (materials.c) */
bool complete_textures(json_t *file);

/* Imports the file with `file` as its JSON. Returns NULL, and Assimp has an error, if that fails. */
const struct aiScene *import_with_json(const scene *s, const json_t *file);

/* Drops channels without a node or with an unknown path, which Assimp would apply to the translation of node 0. Returns
 * false if there are none. */
bool drop_unaimed_channels(scene *s, json_t *file);

/* The bytes of a buffer; empty until they are requested. */
typedef struct gltf_buffer {
    char *bytes;
    size_t size;
} gltf_buffer;

/* Reads buffer `index` of the file into *buffer, unless it is there already: from the file itself (.glb), from a file
 * beside it, or from base64. Returns false if that fails. */
bool read_gltf_buffer(const scene *s, const json_t *file, uint32_t index, gltf_buffer *buffer);

/* Reads `count` elements of `width` floats, 3 or 4, with strides and sparse substitution as the format defines. Returns
 * memory from malloc. buffers: one for each of the file's. Gives up, naming `where`, if the accessor's contents
 * differ. */
float *read_gltf_floats(const scene *s, const json_t *file, gltf_buffer *buffers, uint32_t accessor, uint32_t width,
                        size_t count, const char *where);

#endif
