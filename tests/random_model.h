/* Models made up from a seed, to hold one way of computing a pose against another; and what those made by hand share.
 */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include <throng/anim/model.h>

typedef enum random_shape {
    RANDOM_TREE,  /* each joint on a random earlier one, depth first */
    RANDOM_CHAIN, /* as deep as can be */
    RANDOM_STAR,  /* all on one root */
} random_shape;

typedef enum random_scale {
    RANDOM_RIGID,       /* rotations and translations alone */
    RANDOM_UNITS,       /* a root of scale 0.01 over a skeleton in centimetres, as FBX files have it */
    RANDOM_UNIFORM,     /* joints of other sizes, sizes that move */
    RANDOM_NON_UNIFORM, /* stretched and mirrored joints, stretches that move */
} random_scale;

typedef struct random_desc {
    uint64_t seed;
    uint32_t joint_count;
    random_shape shape;
    random_scale scale;
    uint32_t clip_count;
    uint32_t key_count; /* of a moving track, at least 2 */
    bool uneven_keys;   /* random times that may start late and end early */
    double swing_rad;   /* largest turn between two keys; pi gives half turns and antipodal neighbours */
    bool splines;       /* some tracks are */
    double steps;       /* this part of the moving tracks that are no splines holds its keys */
    bool double_bones;  /* some joints get a second bind with another matrix, some get none */
} random_desc;

/* Passes th_model_check. Aborts when out of memory. Free with th_model_free. */
th_model *random_model(const random_desc *desc);

/* Uniform in [low, high); advances *state. */
double random_between(uint64_t *state, double low, double high);

/* ---- by hand ---- */

extern const th_joint root_joint; /* at the origin */
extern const th_bone root_bone;   /* bound there */

/* The other tracks have one key each, at 0: at the origin, upright, of size 1. */
th_channel moving_channel(uint32_t joint, th_track translation);
th_channel turning_channel(uint32_t joint, uint32_t key_count, const double *times, const float *rotations);

th_clip clip_of(const th_channel *channels, uint32_t count, double duration_ticks, double ticks_per_second);

/* As many bones as joints, of size 1. Borrows all. clip: may be NULL. */
th_model model_of(const th_joint *joints, const th_bone *bones, uint32_t count, const th_clip *clip);

#endif
