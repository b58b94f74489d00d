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

/* Keys of one or more numbers, of which equal times are a jump. */
typedef struct sampler {
    uint32_t count, width;
    const double *times, *values; /* times: in seconds, ascending */
    const char *kinds;            /* by key, what follows: LINEAR, STEP, BEZIER or HERMITE, by its first letter */
    const double *in, *out;       /* inner points of bent pieces by key and number: a time and a value; NULL: none */
    const th_trs *transforms;     /* by key, if the numbers are a matrix */
} sampler;

bool is_element(const xmlNode *node, const char *name);

/* The first element of a name in another one, or NULL. */
xmlNode *find_inside(const xmlNode *node, const char *name);

/* "" if there is none. */
const char *read_attribute(const xmlNode *node, const char *name);

/* What an id, also with # before it, is of; or NULL. */
xmlNode *find_id(const struct collada *c, const char *id);

/* The numbers in an element, at most `most`; *count of them. */
double *read_numbers(scene *s, xmlNode *node, uint32_t most, uint32_t *count);

/* NULL, with a warning about `where`, if it is damaged. */
const sampler *read_sampler(scene *s, const xmlNode *node, const char *where);

/* A number at a time or, with `before`, just before it. */
double sampler_at(const sampler *m, uint32_t number, double time, bool before);

/* The transform of a sampler of matrices, whose parts are interpolated. */
void transform_at(const sampler *m, double time, bool before, th_trs *out);

/* Splits a matrix, row by row. Returns how much of it is shear. */
double split_matrix(const double numbers[16], const double like[3], th_trs *out);

#endif
