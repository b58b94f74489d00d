/* The pose kernel: from compiled keys to palettes, eight instances of one rig at a time. Private to anim.
 *
 * The kernel walks the steps of a program front to back. All lanes do the same step at the same time, so the hierarchy
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
 * moves), X_j is the identity, D_j is L_j, and the product with B stays. rig.c decides, joint by joint. */
#ifndef TH_POSE_H
#define TH_POSE_H

#include <stddef.h>
#include <stdint.h>

#define TH_LANES      8  /* instances a batch, whatever the width of the registers */
#define TH_KEY_FLOATS 4  /* a key is one quaternion, or a vector and a zero */
#define TH_ENTRY      12 /* floats of a palette entry */

enum th_step_flags {
    TH_STEP_ROTATION = 1,    /* the linear part comes from a key, else from `local` */
    TH_STEP_SCALE = 2,       /* ... times a scale that comes from a key; only with ROTATION */
    TH_STEP_TRANSLATION = 4, /* the translation comes from a key, else from `local` */
    TH_STEP_OFFSET = 8,      /* rotation times `offset` is added to the translation; only with ROTATION */
    TH_STEP_DIRECT = 16,     /* M is the first bind's palette entry as it is */
    TH_STEP_MOVES = TH_STEP_ROTATION | TH_STEP_TRANSLATION,
};

/* One joint. A step's keys follow those of the step before: rotation, scale, translation, as its flags say. */
typedef struct th_step {
    float local[12]; /* what does not move of D */
    float offset[3]; /* c */
    uint16_t flags;  /* th_step_flags */
    uint16_t depth;  /* 0 for a root; the parent is whatever step last had depth - 1 */
    uint32_t bind;   /* the joint's first palette entry; its entries are neighbours */
    uint32_t bind_count;
} th_step;

typedef struct th_program {
    const th_step *steps;
    uint32_t step_count;
    uint32_t depth_count;      /* deepest step + 1 */
    size_t frame_floats;       /* keys of one frame */
    uint32_t bind_count;       /* palette entries of an instance */
    const float (*from_m)[12]; /* for each bind: inverse(X) B, so that P = M * from_m; unused for a DIRECT one */
} th_program;

/* What differs between the instances of a batch. */
typedef struct th_lane {
    const float *key; /* the frame at or before the lane's time; the next frame lies frame_floats behind it */
    float alpha;      /* 0 at that frame, 1 at the next */
} th_lane;

/* Scratch of a kernel: M of the current step's ancestors, one slot a depth, all lanes; aligned to 64. */
#define TH_SCRATCH_FLOATS(depth_count) ((size_t)(depth_count)*TH_ENTRY * TH_LANES)

/* Writes bind_count palette entries for each lane; lane i's begin at palette + i * stride (in floats). palette is
 * aligned to 64 bytes, stride a multiple of 16 floats. */
typedef void th_pose_fn(const th_program *program, const th_lane lanes[TH_LANES], float *palette, size_t stride,
                        float *scratch);

/* The same in two halves, of which the first writes every step's D for all lanes, and the second reads them. pose:
 * TH_POSE_FLOATS, aligned to 64; how D lies in it is the instruction set's own affair. */
#define TH_POSE_FLOATS(step_count) ((size_t)(step_count)*TH_ENTRY * TH_LANES)
typedef void th_sample_fn(const th_program *program, const th_lane lanes[TH_LANES], float *pose);
typedef void th_resolve_fn(const th_program *program, const float *pose, float *palette, size_t stride, float *scratch);

/* Stores `value` to `count` floats, as wide as the instruction set stores. palette: aligned to 64. */
typedef void th_fill_fn(float *palette, size_t count, float value);

typedef struct th_kernels {
    th_pose_fn *pose;
    th_sample_fn *sample;
    th_resolve_fn *resolve;
    th_fill_fn *fill;
} th_kernels;

/* Error of each against double precision, as rounding goes: about 1e-7 of the model's size for each level of depth. */
extern const th_kernels th_kernels_scalar, th_kernels_sse4, th_kernels_avx2;

#endif
