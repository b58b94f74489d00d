/* Morph targets, for meshes.c. */
#ifndef TH_ANIM_IMPORT_MORPHS_H
#define TH_ANIM_IMPORT_MORPHS_H

#include "scene.h"

/* Whether all targets add the same to two vertices of a mesh. Equal ones have equal hashes. */
bool same_deltas(const scene *s, const struct aiMesh *mesh, uint32_t a, uint32_t b);
uint64_t hash_deltas(const scene *s, const struct aiMesh *mesh, uint32_t v);

/* Reads the targets of a mesh that the node of `joint` draws. sources: by vertex of `out`, that of the file. */
void read_targets(scene *s, const struct aiMesh *mesh, const char *label, uint32_t joint, const uint32_t *sources,
                  th_mesh *out);

void begin_weights(scene *s);

/* Stores the weights in the model, and their indices in the targets. joints: of the nodes, by mesh. */
void finish_weights(scene *s, const uint32_t *joints, th_mesh *meshes, uint32_t count);

#endif
