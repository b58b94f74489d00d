/* The parts of reading what Assimp leaves out of glTF files; what the others see of it is in scene.h. */
#ifndef TH_IMPORT_GLTF_H
#define TH_IMPORT_GLTF_H

#include "gltf_json.h"
#include "scene.h"

/* Gives up when the file holds what Assimp would misread without a word. */
void refuse_unreadable(scene *s, const json_t *file);

/* Part of a transform that a channel's path names; 0 for any other path. */
uint32_t gltf_part(const json_t *channel);

/* Drops channels without a node or a path that is known, which Assimp takes for the translation of node 0, and has
 * Assimp read the file again when there are any. `file` changes accordingly. */
void drop_unaimed_channels(scene *s, json_t *file);

#endif
