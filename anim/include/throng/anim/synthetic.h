/* Models made to order: a skeleton of a shape, so many joints, so deep, with clips of so many keys. What a pose costs
 * can then be measured against one of these while the others hold still.
 *
 * The same description gives the same bytes on every machine: only additions, products, quotients and square roots are
 * used, which IEEE 754 rounds alike everywhere, and no sine of a C library. Human sized (1.8 m or thereabouts),
 * standing on Y = 0, in metres. Every joint has a palette entry of its own. */
#ifndef THRONG_ANIM_SYNTHETIC_H
#define THRONG_ANIM_SYNTHETIC_H

#include <throng/anim/model.h>

#define TH_SYNTHETIC_NAME "synthetic"

#define TH_SYNTHETIC_MAX_JOINTS 1000u
#define TH_SYNTHETIC_MAX_CLIPS  64u
#define TH_SYNTHETIC_MIN_KEYS   3u /* of a loop: there, elsewhere, and back */
#define TH_SYNTHETIC_MAX_KEYS   50000u
#define TH_SYNTHETIC_MAX_RATE   240u
/* joints * clips * keys. As many can be measured by the compiler within its budget. */
#define TH_SYNTHETIC_MAX_WORK 2000000u

typedef enum th_synthetic_shape {
    TH_SYNTHETIC_TREE = 0, /* limbs that branch, as of a body: one reaches the full depth, others as far as it comes */
    TH_SYNTHETIC_CHAIN,    /* every joint on the one before */
    TH_SYNTHETIC_STAR,     /* all on one root */
    TH_SYNTHETIC_SHAPE_COUNT,
} th_synthetic_shape;

typedef struct th_synthetic_desc {
    const char *name; /* of the model; copied. NULL: TH_SYNTHETIC_NAME */
    th_synthetic_shape shape;
    uint32_t joints;
    uint32_t depth;    /* joints on the longest way from the root to a tip. A tree: 2 to joints, or 1 of 1; other
                          shapes: 0. 0: what the shape has, of a tree 12 or as many as it has joints */
    uint32_t clips;    /* at least 1 */
    uint32_t keys;     /* of a track that moves; the last is the first again */
    uint32_t rate;     /* keys a second: a clip takes (keys - 1) / rate */
    uint32_t moving;   /* percent of the joints that clips move, spread evenly; others have no channel */
    bool moving_scale; /* they change their size as well as turn; the root always shifts, too, when it moves */
    bool no_mesh;      /* nothing to draw */
    uint64_t seed;     /* where limbs branch, and who sways when */
} th_synthetic_desc;

/* A tree of 64 joints, 12 deep; a clip of 61 keys, 30 a second; all joints turn. */
#define TH_SYNTHETIC_DEFAULT                                                                                           \
    ((th_synthetic_desc){.joints = 64, .clips = 1, .keys = 61, .rate = 30, .moving = 100, .seed = 1})

/* How deep that is. */
uint32_t th_synthetic_depth(const th_synthetic_desc *desc);

/* TH_ERR_LIMIT beyond the above, or TH_ERR_MEMORY. Free with th_model_free. */
th_result th_synthetic_create(const th_synthetic_desc *desc, th_model **out, th_error *err);

#endif
