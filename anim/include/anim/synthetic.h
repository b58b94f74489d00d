/* Synthetic models with a given skeleton shape, number of joints, depth and number of keys, for measuring the cost of a
 * pose against one quantity while the others stay fixed.
 *
 * The same description gives the same bytes on every machine. Only additions, products, quotients and square roots are
 * used, which IEEE 754 defines exactly, and no sines of a C library. About 1.8 m tall, standing on Y = 0, in metres.
 * Every joint has one bone. */
#ifndef THRONG_ANIM_SYNTHETIC_H
#define THRONG_ANIM_SYNTHETIC_H

#include <anim/model.h>

#define TH_SYNTHETIC_NAME "synthetic"

#define TH_SYNTHETIC_MAX_JOINTS  1000u
#define TH_SYNTHETIC_MAX_CLIPS   64u
#define TH_SYNTHETIC_MIN_KEYS    3u /* of a loop: start, elsewhere, start */
#define TH_SYNTHETIC_MAX_KEYS    50000u
#define TH_SYNTHETIC_MAX_RATE    240u
#define TH_SYNTHETIC_MAX_WEIGHTS 1000u
/* Limit of (joints + weights) * clips * keys, which the clip compiler can measure within its budget. */
#define TH_SYNTHETIC_MAX_WORK 2000000u

typedef enum th_synthetic_shape {
    TH_SYNTHETIC_TREE = 0, /* branching limbs, as of a body; one limb has the full depth, others may be shorter */
    TH_SYNTHETIC_CHAIN,    /* each joint is the child of the one before */
    TH_SYNTHETIC_STAR,     /* all joints are children of one root */
    TH_SYNTHETIC_SHAPE_COUNT,
} th_synthetic_shape;

typedef struct th_synthetic_desc {
    const char *name; /* of the model; copied. NULL: TH_SYNTHETIC_NAME */
    th_synthetic_shape shape;
    uint32_t joints;
    uint32_t depth;    /* joints on the longest path from the root to a tip. TREE: 2 to joints, or 1 for 1 joint.
                          0: the default of the shape, for a TREE the smaller of 12 and joints. Others: must be 0 */
    uint32_t clips;    /* at least 1 */
    uint32_t keys;     /* per animated track; the last equals the first */
    uint32_t rate;     /* keys per second: a clip takes (keys - 1) / rate seconds */
    uint32_t moving;   /* percent of joints that are animated, spread evenly; others have no channel */
    bool moving_scale; /* animated joints also change scale; an animated root always has translation too */
    bool no_mesh;      /* without a mesh */
    uint32_t weights;  /* of morph targets; clips move all of them */
    uint64_t seed;     /* of the branches of limbs and the motion of joints */
} th_synthetic_desc;

/* A TREE of 64 joints with depth 12; one clip of 61 keys, 30 per second; all joints rotate. */
#define TH_SYNTHETIC_DEFAULT                                                                                           \
    ((th_synthetic_desc){.joints = 64, .clips = 1, .keys = 61, .rate = 30, .moving = 100, .seed = 1})

/* (joints + weights) * clips * keys. */
static inline uint64_t th_synthetic_work(const th_synthetic_desc *desc)
{
    return ((uint64_t)desc->joints + desc->weights) * desc->clips * desc->keys;
}

/* The depth of such a model. The shape must be valid. */
uint32_t th_synthetic_depth(const th_synthetic_desc *desc);

/* Errors: TH_ERR_LIMIT for a value outside the ranges above; TH_ERR_MEMORY. Free *out with th_model_destroy. */
th_result th_synthetic_create(const th_synthetic_desc *desc, th_model **out, th_error *err);

#endif
