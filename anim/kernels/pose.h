/* The pose kernels: from compiled keys to palettes, some instances of one rig at a time. Private to anim.
 *
 * A kernel walks the steps of a program front to back. All lanes do the same step at the same time, so the hierarchy
 * costs nothing extra and no lane waits; which clip a lane plays, and when, is only a matter of its key pointers.
 *
 * The algebra. A joint's global transform is G_j = G_parent L_j, and a palette entry is P = G_j B with B the inverse
 * bind matrix. Computing that as it stands takes two matrix products a joint. So the compiler gives every joint a
 * constant space X_j, and the kernel computes M_j = G_j X_j instead:
 *
 *     M_j = M_parent D_j,    D_j = inverse(X_parent) L_j X_j
 *
 * Where B is a rotation and a translation, X_j = B makes M_j the palette entry itself and saves the second product. The
 * rotation of D_j is conj(x_parent) q x_j, which is linear in the authored q, so keys are moved into this space once,
 * when the clip is compiled, and interpolating them there gives exactly the same result. Its translation is
 * R_D c_j + T' with c_j constant and T' linear in the authored translation. Where this cannot be done (scale that
 * moves), X_j is the identity, D_j is L_j, and the product with B stays. rig.c decides, joint by joint.
 *
 * A kernel comes in two halves: sampling makes D of keys, resolving makes M, hence palettes, of D. They take turns, a
 * block of steps each: one loop over both would be so long that the processor sees no further than the joint it is at,
 * and waits for it. Within a block M stays in registers from parent to child. */
#ifndef TH_POSE_H
#define TH_POSE_H

#include <throng/interpolation.h>
#include <throng/keys.h>
#include <throng/palette.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TH_MAX_WIDTH 16 /* lanes of the widest kernel */
#define TH_BLOCK     16 /* steps that are sampled before the first of them is resolved */
#define TH_KEY       4  /* numbers of a key: one quaternion, or a vector and a zero */
#define TH_ENTRY     12 /* numbers of a palette entry or a matrix */

enum th_step_flags {
    TH_STEP_ROTATION = 1,    /* the linear part comes from a key, else from `local` */
    TH_STEP_SCALE = 2,       /* ... times a scale that comes from a key; only with ROTATION */
    TH_STEP_TRANSLATION = 4, /* the translation comes from a key, else from `local` */
    TH_STEP_OFFSET = 8,      /* rotation times `offset` is added to the translation; only with ROTATION */
    TH_STEP_DIRECT = 16,     /* M is the first bind's palette entry as it is */
    TH_STEP_PRODUCTS = 32,   /* there are binds for which M takes one more product */
    TH_STEP_CHAINED = 64,    /* the step before is the parent, in the same block */
    TH_STEP_KEPT = 128,      /* a step that is not CHAINED will ask for M */
    TH_STEP_MOVES = TH_STEP_ROTATION | TH_STEP_TRANSLATION,
};

/* One joint. */
typedef struct th_step {
    float local[12]; /* what does not move of D */
    float offset[3]; /* c */
    uint16_t flags;  /* th_step_flags */
    uint16_t depth;  /* 0 for a root; the parent is whatever step last had depth - 1 */
    uint32_t key;    /* where its keys begin in a frame, in bytes: rotation, scale, translation, as its flags say */
    uint32_t bind;   /* the joint's first palette entry; its entries are neighbours */
    uint32_t bind_count;
} th_step;

/* What the numbers n of a 16-bit key stand for: base + span * n. */
typedef struct th_range {
    float base[TH_KEY], span[TH_KEY];
} th_range;

typedef struct th_program {
    th_keys keys;
    th_interpolation curve; /* between frames; not AUTHORED */
    const th_step *steps;
    uint32_t step_count;
    uint32_t depth_count;      /* deepest step + 1 */
    size_t frame_bytes;        /* keys of one frame */
    const th_range *ranges;    /* of each key of a frame; 16-bit keys only */
    uint32_t bind_count;       /* palette entries of an instance */
    const float (*from_m)[12]; /* for each bind: inverse(X) B, so that P = M * from_m; unused for a DIRECT one */
} th_program;

/* What differs between the instances that are posed together. */
typedef struct th_lanes {
    _Alignas(64) float alpha[TH_MAX_WIDTH]; /* 0 at the frame at or before the lane's time, 1 at the next */
    const void *frame[TH_MAX_WIDTH];        /* that frame, CUBIC: the one before it; others follow, frame_bytes apart */
} th_lanes;

/* The bytes at `at` of a lane's frame, or of one behind it. */
static inline const char *th_lanes_at(const th_lanes *lanes, int lane, size_t at)
{
    return (const char *)lanes->frame[lane] + at;
}

/* What the halves hand over: D of each step for all lanes, aligned to 64; how it lies in there is the instruction
 * set's own affair. */
#define TH_POSE_FLOATS(step_count, width) ((size_t)(step_count)*TH_ENTRY * (width))

/* Scratch of resolving: M of the current step's ancestors, one slot a depth, all lanes; aligned to 64. */
#define TH_SLOT_FLOATS(depth_count, width) ((size_t)(depth_count)*TH_ENTRY * (width))

/* D of steps [first, first + count), the first of them to the beginning of pose. first: a multiple of TH_BLOCK; count:
 * at least 1, here and below. */
typedef void th_sample_fn(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes,
                          float *pose);

/* The palette entries of the same steps, for each lane; lane i's palette begins at palette + i * stride (in bytes).
 * palette is aligned to 64, stride a multiple of 64. */
typedef void th_resolve_fn(const th_program *program, uint32_t first, uint32_t count, const float *pose, char *palette,
                           size_t stride, float *slots);

/* Stores `value` to `count` floats, as wide as the instruction set stores. out: aligned to 64. */
typedef void th_fill_fn(float *out, size_t count, float value);

/* Copies whole lines past the caches, in order. Both aligned to 64, bytes a multiple of 64. After the last copy, fence.
 */
typedef void th_stream_fn(void *to, const void *from, size_t bytes);
typedef void th_fence_fn(void);

typedef struct th_kernels {
    uint32_t width; /* lanes */
    th_sample_fn *sample[TH_KEYS_COUNT][TH_INTERPOLATION_COUNT];
    th_resolve_fn *resolve[TH_PALETTE_COUNT];
    th_fill_fn *fill;
    th_stream_fn *stream;
    th_fence_fn *fence;
} th_kernels;

/* Scratch of both halves together. */
#define TH_SCRATCH_FLOATS(depth_count, width) (TH_POSE_FLOATS(TH_BLOCK, width) + TH_SLOT_FLOATS(depth_count, width))

/* Palettes of `width` lanes, all steps. */
static inline void th_kernels_pose(const th_kernels *kernels, const th_program *program, const th_lanes *lanes,
                                   th_palette format, char *palette, size_t stride, float *scratch)
{
    float *slots = scratch + TH_POSE_FLOATS(TH_BLOCK, kernels->width);
    th_sample_fn *const sample = kernels->sample[program->keys][program->curve];
    th_resolve_fn *const resolve = kernels->resolve[format];
    for (uint32_t first = 0; first < program->step_count; first += TH_BLOCK) {
        const uint32_t rest = program->step_count - first, count = rest < TH_BLOCK ? rest : TH_BLOCK;
        sample(program, first, count, lanes, scratch);
        resolve(program, first, count, scratch, palette, stride, slots);
    }
}

/* Error of each against double precision, as rounding goes: about 1e-7 of the model's size for each level of depth.
 * Those with fused multiply-add agree to the last bit, and so do those without. */
extern const th_kernels th_kernels_scalar, th_kernels_sse4, th_kernels_avx2, th_kernels_avx512;

#endif
