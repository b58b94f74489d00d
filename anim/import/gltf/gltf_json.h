/* The JSON of a glTF file. */
#ifndef TH_ANIM_IMPORT_GLTF_JSON_H
#define TH_ANIM_IMPORT_GLTF_JSON_H

#include <jansson.h>
#include <stdint.h>

/* Returns NULL, and why, if the text is not JSON. Tolerant, as exporters are not all strict: content behind a zero byte
 * is ignored, integers may have any length (a very long one makes all numbers reals), and strings may be Latin-1. */
json_t *parse_gltf_json(const char *bytes, size_t size, char *why, size_t why_size);

/* An index as a number of the JSON; TH_NO_INDEX if it is none. */
uint32_t gltf_index_of(const json_t *number);

/* A member that refers to an object by index; TH_NO_INDEX if missing. */
uint32_t gltf_index(const json_t *object, const char *member);

/* The object an index refers to, or NULL. */
const json_t *gltf_at(const json_t *list, uint32_t index);

/* The part of the transform that a channel's path names; 0 for other paths. */
uint32_t gltf_part(const json_t *channel);

#endif
