/* A second opinion on what a file says: poses straight from Assimp's scene, in double precision and as plainly as can
 * be. Shares no code with anim/, so that a mistake there cannot hide here. For well-formed files only. */
#ifndef ORACLE_ASSIMP_H
#define ORACLE_ASSIMP_H

#include <assimp/scene.h>

/* Row-major, column vectors. */
typedef struct oracle_matrix {
    double m[4][4];
} oracle_matrix;

typedef struct oracle {
    const struct aiScene *scene;
    unsigned node_count;
    const struct aiNode **nodes; /* depth first, children in the file's order */
} oracle;

/* Without any post-processing. scene is NULL when Assimp cannot read the file. */
oracle oracle_load(const char *path);
void oracle_free(oracle *o);

/* Index of the first node with this name, or node_count. */
unsigned oracle_find(const oracle *o, const char *name);

/* Scene-space matrices of all nodes: out[node_count]. clip < 0: the rest pose. */
void oracle_pose(const oracle *o, int clip, double time_s, oracle_matrix *out);

/* pose[bone's node] * offset matrix: where the bone takes its mesh. */
oracle_matrix oracle_bone(const oracle *o, const struct aiBone *bone, const oracle_matrix *pose);

#endif
