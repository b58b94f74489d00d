/* Joint levels of detail: models with fewer joints that move and fewer bones, for characters that are far away.
 *
 * A level holds joints still: fingers, face and twist joints first, whatever shows least. Each stands in its mean pose
 * relative to its parent, over all clips. Its bones are left out, and their vertices follow the nearest bone above
 * instead, moved to where the mean pose has them. A level is a model like any other: it is compiled, posed and drawn
 * the same way, with a smaller palette.
 *
 * Joints keep their indices, and so do clips, weights of morph targets, meshes, vertices and triangles. So masks,
 * layers and clips of the source fit every level. Bones do not keep theirs. Levels are nested: what a level holds, all
 * after it hold too. */
#ifndef THRONG_ANIM_JOINT_LOD_H
#define THRONG_ANIM_JOINT_LOD_H

#include <anim/model.h>

#define TH_LOD_LEVELS 10u

/* The largest error of a level, as a part of the model's size. 0 for level 0; two levels double it. Levels of detail of
 * meshes have the same limits. */
double th_lod_limit(uint32_t level);

typedef struct th_joint_level {
    const th_model *model; /* level 0: the source itself. A level that would save less than a fifth of the bones repeats
                              the level before, this pointer included */
    const bool *held;      /* by joint */
    uint32_t moving_count; /* joints that a clip moves and that some bone depends on */
    /* How far a vertex is from where the source has it, at most: in scene units, exact poses, without morph targets. It
     * includes 1 % for what lies between the moments at which it was measured, and stays within the limit. */
    double error;
    uint32_t error_clip; /* TH_NO_INDEX: no clip, at rest */
    double error_time_s;
} th_joint_level;

typedef struct th_joint_lod {
    uint32_t distinct_count;              /* levels that do not repeat the one before; at least 1 */
    th_joint_level levels[TH_LOD_LEVELS]; /* errors never decrease */
} th_joint_lod;

/* Chooses the levels. The same model gives the same levels. Borrows the model, which must outlive the result.
 *
 * Errors are measured on all vertices at up to 256 moments of every clip, fewer for models with many vertices and
 * clips, and once more around the worst. The rest pose of a model with clips is not measured. A model without vertices
 * has only level 0, because nobody sees what its joints do.
 *
 * Takes about as long as compiling the clips; the search stops after a fixed number of skinned vertices. The only error
 * is TH_ERR_MEMORY. The caller frees *out with th_joint_lod_destroy. */
th_result th_joint_lod_create(const th_model *model, th_joint_lod **out, th_error *err);
void th_joint_lod_destroy(th_joint_lod *lod); /* NULL is allowed */

#endif
