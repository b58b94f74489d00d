/* What vertices follow when bones are left out. Private to anim. */
#ifndef TH_ANIM_MODEL_REBIND_H
#define TH_ANIM_MODEL_REBIND_H

#include <throng/anim/model.h>

/* A skeleton of which some joints stand still relative to their parents. */
typedef struct th_held_skeleton {
    const th_model *model;
    bool *held;           /* by joint */
    th_dmat34 *means;     /* by joint: parent_from_joint where it is held */
    uint32_t *first_bone; /* by joint, and one after the last: of it and all joints after it */
} th_held_skeleton;

/* The bone that a vertex follows instead, and where its mesh space has the vertex. A bone that stays follows itself. */
typedef struct th_rebind {
    uint32_t bone;
    th_dmat34 matrix;
} th_rebind;

/* A bone is left out if its joint is held and a joint above it has a bone, with held joints only in between. */
th_rebind th_rebind_bone(const th_held_skeleton *skeleton, uint32_t bone);

/* Where the vertex lies for its new bones, as the mean over its influences: by its bones before. Exact unless they
 * become several bones that turn against each other. */
th_dmat34 th_rebind_matrix(const th_rebind *rebinds, const th_vertex *vertex);

/* Moves a vertex by that matrix, to the new bones. numbers: what these are called, by bone. */
th_vertex th_rebind_vertex(const th_rebind *rebinds, const uint32_t *numbers, const th_dmat34 *matrix,
                           const th_vertex *vertex);

/* The same for a delta of that vertex. */
th_morph_delta th_rebind_delta(const th_dmat34 *matrix, const th_vertex *vertex, const th_morph_delta *delta);

#endif
