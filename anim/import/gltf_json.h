/* The JSON of a glTF file, read once more beside Assimp, which leaves some of it out. */
#ifndef TH_ANIM_IMPORT_GLTF_JSON_H
#define TH_ANIM_IMPORT_GLTF_JSON_H

#include <jansson.h>
#include <stdint.h>

/* NULL when it cannot be read, or is none. As tolerant as Assimp: what comes behind a zero byte is ignored, integers
 * may be of any length (with a very long one, all become reals), and texts may be Latin-1. The caller ends with
 * json_decref. */
json_t *load_gltf_json(const char *path);

/* All of a regular file, from malloc; NULL when it cannot be read or is empty. */
char *th_read_whole_file(const char *path, size_t *out_size);

/* A member that refers to something by its index; TH_NO_INDEX when there is none. */
uint32_t gltf_index(const json_t *object, const char *member);

/* What an index refers to; NULL when there is nothing. */
const json_t *gltf_at(const json_t *list, uint32_t index);

/* Part of a transform that a channel's path names; 0 for any other path. */
uint32_t gltf_part(const json_t *channel);

#endif
