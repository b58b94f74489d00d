/* The pose kernels: from compiled keys to palettes, some instances of one compiled model at a time. Private to anim.
 *
 * A kernel walks the ops of a program front to back. All lanes do the same op at the same time, so the hierarchy
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
 * moves), X_j is the identity, D_j is L_j, and the product with B stays. compiled_model.c decides, joint by joint.
 *
 * Nearly always T' = -c_j: the joint hangs from its parent where the bind pose has it. Then D_j turns about the point
 * a = -c_j, and with R for the linear part of M and t for its translation,
 *
 *     t_j = t_parent + (R_parent - R_j) a,
 *
 * half the multiplications of both translations, and D_j needs none.
 *
 * A kernel comes in three parts: sampling makes D of keys, resolving makes M of D, writing makes palettes of M. The
 * first two take turns, a block of ops each: one loop over both would be so long that the processor sees no further
 * than the joint it is at, and waits for it. Only writing knows of formats and of what palettes look like. */
#ifndef TH_ANIM_KERNELS_POSE_H
#define TH_ANIM_KERNELS_POSE_H

#include <throng/anim/interpolation.h>
#include <throng/anim/keys.h>
#include <throng/anim/palette.h>
#include <throng/core/cache_line.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TH_MAX_WIDTH       16 /* lanes of the widest kernel */
#define TH_BLOCK           8  /* ops that are sampled before the first of them is resolved */
#define TH_KEY             4  /* numbers of a key: one quaternion, or a vector and a zero */
#define TH_ENTRY           12 /* numbers of a palette entry or a matrix */
#define TH_ROW_BYTES       16 /* of a lane's matrix */
#define TH_CACHE_LINE_ROWS 8  /* rows of palette entries that fill a line, in the smallest format */

enum th_joint_op_flags {
    TH_JOINT_OP_ROTATION = 1,    /* the linear part comes from a key, else from `local` */
    TH_JOINT_OP_SCALE = 2,       /* ... times a scale that comes from a key; only with ROTATION */
    TH_JOINT_OP_TRANSLATION = 4, /* the translation comes from a key, else from `local` */
    TH_JOINT_OP_OFFSET = 8,      /* rotation times `offset` is added to the translation; only with ROTATION */
    TH_JOINT_OP_PIVOT = 16, /* D turns about `offset`, which is all there is of translation; only with ROTATION and a
                             * parent, without the others */
    TH_JOINT_OP_MOVES = TH_JOINT_OP_ROTATION | TH_JOINT_OP_TRANSLATION,
};

#define TH_NO_PARENT UINT32_MAX

/* One joint. */
typedef struct th_joint_op {
    float local[12]; /* what does not move of D */
    float offset[3]; /* c; PIVOT: a */
    uint32_t flags;  /* th_joint_op_flags */
    uint32_t parent; /* the parent's op, an earlier one; or TH_NO_PARENT */
    uint32_t key;    /* where its keys begin in a frame, in bytes: rotation, scale, translation, as its flags say */
    uint32_t product, product_count; /* its own in program.products */
} th_joint_op;

/* What the numbers n of a 16-bit key stand for: base + span * n. */
typedef struct th_key_range {
    float base[TH_KEY], span[TH_KEY];
} th_key_range;

typedef struct th_program {
    th_keys keys;
    th_interpolation curve; /* between frames; not AUTHORED */
    const th_joint_op *ops;
    uint32_t op_count;
    size_t frame_bytes;          /* keys of one frame */
    const th_key_range *ranges;  /* of each key of a frame; 16-bit keys only */
    const float (*products)[12]; /* inverse(X) B of the bones for which M takes one more product: P = M * product */
    uint32_t product_count;
    uint32_t bone_count;   /* palette entries of an instance */
    const uint32_t *ready; /* for each block, up to which row palettes can be written when it is resolved */
    const uint32_t *rows;  /* for each row of a palette, in order, where it is among the matrices, in bytes of a lane;
                            * filled up with rows of zeros to whole lines of any format */
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

/* What the parts hand over, aligned to 64: TH_ENTRY vectors of all lanes for a matrix. */
#define TH_MATRICES_FLOATS(count, width) ((size_t)(count)*TH_ENTRY * (width))

/* How many matrices there are: M of each op, M times each product, and one of zeros. */
static inline uint32_t th_program_matrices(const th_program *program)
{
    return program->op_count + program->product_count + 1;
}

/* D of ops [first, first + count), the first of them to the beginning of pose. count: at least 1, here and below. */
typedef void th_sample_fn(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes,
                          float *pose);

/* Where palettes will be written next, from byte `at` of each lane's. */
typedef struct th_prefetch {
    char *const *palettes;
    size_t at;
} th_prefetch;

/* Matrices of the same ops, from their D in pose, and those of their products. All ops before are resolved. prefetch:
 * has lines fetched meanwhile; NULL: none. */
typedef void th_resolve_fn(const th_program *program, uint32_t first, uint32_t count, const float *pose,
                           float *matrices, const th_prefetch *prefetch);

/* Rows [first, end) of palettes, in whole lines, each lane's in order; what a palette does not fill of its last line is
 * set to zero. first, end: multiples of TH_CACHE_LINE_ROWS; palettes: of each lane, aligned to 64. Lanes with the same
 * keys may share one. */
typedef void th_write_fn(const th_program *program, uint32_t first, uint32_t end, const float *matrices,
                         char *const *palettes);

/* Stores `value` to `count` floats, as wide as the instruction set stores. out: aligned to 64; count: whole lines. */
typedef void th_fill_fn(float *out, size_t count, float value);

/* Copies whole lines past the caches, in order. Both aligned to 64, bytes a multiple of 64. */
typedef void th_stream_fn(void *to, const void *from, size_t bytes);

/* After the last of what is streamed. */
typedef void th_fence_fn(void);

typedef struct th_kernels {
    uint32_t width; /* lanes */
    th_sample_fn *sample[TH_KEYS_COUNT][TH_INTERPOLATION_COUNT];
    th_resolve_fn *resolve;
    th_write_fn *write[TH_PALETTE_COUNT][2]; /* [][streamed] */
    th_fill_fn *fill[2];                     /* [streamed] */
    th_stream_fn *stream;
    th_fence_fn *fence;
} th_kernels;

/* Once before any resolving. */
static inline void th_kernels_begin(const th_kernels *kernels, const th_program *program, float *matrices)
{
    const size_t used = TH_MATRICES_FLOATS(th_program_matrices(program) - 1, kernels->width);
    memset(matrices + used, 0, TH_MATRICES_FLOATS(1, kernels->width) * sizeof *matrices);
}

/* Scratch of all parts together. */
static inline size_t th_scratch_floats(const th_program *program, uint32_t width)
{
    return TH_MATRICES_FLOATS(th_program_matrices(program) + TH_BLOCK, width);
}

/* Palettes of `width` lanes, all ops. write: one of these kernels'; prefetches: have lines of f32 palettes fetched
 * while matrices are made that will be written to them. */
static inline void th_kernels_pose(const th_kernels *kernels, const th_program *program, const th_lanes *lanes,
                                   th_write_fn *write, bool prefetches, float *scratch, char *const *palettes)
{
    float *const pose = scratch, *const matrices = scratch + TH_MATRICES_FLOATS(TH_BLOCK, kernels->width);
    th_sample_fn *const sample = kernels->sample[program->keys][program->curve];
    uint32_t written = 0;
    th_kernels_begin(kernels, program, matrices);
    for (uint32_t first = 0; first < program->op_count; first += TH_BLOCK) {
        const uint32_t rest = program->op_count - first, count = rest < TH_BLOCK ? rest : TH_BLOCK;
        const uint32_t ready = program->ready[first / TH_BLOCK];
        sample(program, first, count, lanes, pose);
        const th_prefetch prefetch = {palettes, (size_t)written * TH_ROW_BYTES};
        kernels->resolve(program, first, count, pose, matrices, prefetches ? &prefetch : NULL);
        write(program, written, ready, matrices, palettes);
        written = ready;
    }
}

/* Error of each against double precision, as rounding goes: about 1e-7 of the model's size for each level of depth.
 * Those with fused multiply-add agree to the last bit, and so do those without. */
extern const th_kernels th_kernels_scalar, th_kernels_sse4, th_kernels_avx2, th_kernels_avx512, th_kernels_neon;

#endif
