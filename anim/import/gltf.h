/* The parts of reading what Assimp leaves out of glTF files; what the others see of it is in scene.h. */
#ifndef TH_ANIM_IMPORT_GLTF_H
#define TH_ANIM_IMPORT_GLTF_H

#include "gltf_json.h"
#include "scene.h"

#include <stddef.h>

/* Gives up when the file holds what Assimp would misread without a word. */
void reject_unreadable(scene *s, const json_t *file);

/* Gives skins without inverse bind matrices those that they have by default. False when there are no such skins. */
bool complete_skins(json_t *file);

/* What Assimp makes of the file when `file` is its JSON; NULL and Assimp's error where that is nothing. */
const struct aiScene *import_with_json(const scene *s, const json_t *file);

/* Drops channels without a node or a path that is known, which Assimp takes for the translation of node 0. False when
 * there are none. */
bool drop_unaimed_channels(scene *s, json_t *file);

/* The bytes of a buffer; none until they are asked for. */
typedef struct gltf_buffer {
    char *bytes;
    size_t size;
} gltf_buffer;

/* Reads buffer `index` of the file into *buffer, unless it is there already: from the file itself (.glb), from a file
 * beside it, or from base64. False when that fails. */
bool read_gltf_buffer(const scene *s, const json_t *file, uint32_t index, gltf_buffer *buffer);

/* `count` elements of `width` floats, 3 or 4, from malloc; where there are gaps and stand-ins (sparse), as the format
 * has it. buffers: one for each of the file's. Gives up, naming `where`, when the accessor does not hold just that. */
float *read_gltf_floats(const scene *s, const json_t *file, gltf_buffer *buffers, uint32_t accessor, uint32_t width,
                        size_t count, const char *where);

#endif
