/* Collada beside Assimp, which reads its meshes, skins, materials and nodes. Clips are read from the file's own XML:
 * Assimp 5.2.5 plays every curve straight, and a node's transforms right at keys alone.
 *
 *    collada_file.c    the XML, its curves, and what Assimp is given
 *    collada_clips.c   what channels move, as keys */
#ifndef TH_IMPORT_COLLADA_H
#define TH_IMPORT_COLLADA_H

#include "scene.h"

#include <libxml/tree.h>

struct collada {
    struct _xmlHashTable *ids;
    xmlNode *root, *animations; /* the file; its libraries of animations and of clips of them, which are taken out */
    struct collada_clips *clips;
};

/* Calls `visit`, which may take the node out, for a node, those after it and all inside. */
void walk(scene *s, xmlNode *node, void (*visit)(scene *s, xmlNode *node));

bool is_element(const xmlNode *node, const char *name);

/* The first element of a name in another one, or NULL. */
xmlNode *find_inside(const xmlNode *node, const char *name);

/* "" if there is none. */
const char *read_attribute(const xmlNode *node, const char *name);

/* What an id, also with # before it, is of; or NULL. */
xmlNode *find_id(const struct collada *c, const char *id);

/* The numbers in an element, at most `most`; *count of them. */
double *read_numbers(scene *s, xmlNode *node, uint32_t most, uint32_t *count);

/* The curves of a sampler's numbers, *width of them, over seconds; two keys of one time are a jump. Of a matrix, *width
 * is 16, but the curves are those of the ten numbers of th_trs. NULL, with a warning about `where`, if it is damaged.
 */
const th_curve *read_sampler(scene *s, const xmlNode *node, const char *where, uint32_t *width);

#endif
