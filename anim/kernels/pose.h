/* The pose kernels: from compiled keys to palettes, several instances of one compiled model at a time. Private to anim.
 *
 * A kernel runs the ops of a program front to back. All lanes execute the same op at the same time, so the hierarchy
 * costs nothing extra and no lane waits. Clip and time of a lane only affect its key pointers.
 *
 * The algebra. A joint's global transform is G_j = G_parent L_j. A palette entry is P = G_j B, with B the inverse bind
 * matrix. Computed directly, that takes two matrix products per joint. So the compiler assigns a constant space X_j to
 * every joint, and the kernel computes M_j = G_j X_j:
 *
 *    M_j = M_parent D_j,   D_j = inverse(X_parent) L_j X_j
 *
 * If B is a rotation and a translation, X_j = B makes M_j the palette entry itself and saves the second product. The
 * rotation of D_j is conj(x_parent) q x_j, which is linear in the authored q. So keys are transformed into this space
 * once, when the clip is compiled, and interpolating them there gives exactly the same result. The translation of D_j
 * is R_D c_j + T', with c_j constant and T' linear in the authored translation. Where this is impossible (animated
 * scale), X_j is the identity, D_j is L_j, and the product with B remains. compile.c decides for each joint.
 *
 * Usually T' = -c_j: the joint is attached to its parent where the bind pose has it. Then D_j rotates about the point a
 * = -c_j. With R the linear part of M and t its translation,
 *
 *    t_j = t_parent + (R_parent - R_j) a,
 *
 * which takes half the multiplications of both translations, and D_j needs none.
 *
 * Morph weights are ops without a parent. Twelve of them take the place of a matrix, D = M, from keys to the palette.
 * If no clip moves them, the constants of D hold them.
 *
 * Quaternions (TH_POSE_QUATS). If every M is a rotation, a uniform scale s that is constant, and a translation, it is
 * enough to follow a rotation Q and a place p = M b, where b is a constant point of the joint, that about which D
 * rotates. With q the rotation of D and D b what D makes of that point,
 *
 *    Q_j = Q_parent q_j,   p_j = p_parent + s_parent rotate(Q_parent, D b_j - b_parent).
 *
 * D b_j is constant unless the joint's translation moves. That is two thirds of the operations, and two thirds of the
 * bytes to write. Q must have unit length here, so that keys are normalised once they are interpolated.
 *
 * Layers (throng.h) are blended in key space: keys are linear in the authored rotations and translations, so
 * a weighted sum of keys is the key of the weighted sum. A layer that adds turns by conj(q_r) q; as keys are
 * conj(x_parent) q x, the same product of two keys is conj(x) conj(q_r) q x, by which a key turns as the rotation does
 * by conj(q_r) q. So layers need no clips of their own, and nothing after sampling knows of them.
 *
 * A kernel has three stages: sampling computes D from keys, resolving computes M from D, writing computes palettes from
 * M. The first two alternate in blocks of ops: one loop over both would be longer than the processor's reorder window,
 * and each joint would wait for the one before. Only writing depends on the palette format. */
#ifndef TH_ANIM_KERNELS_POSE_H
#define TH_ANIM_KERNELS_POSE_H

#include "pose_constants.h"

#include <anim/keys.h>
#include <anim/palette.h>
#include <throng/throng.h>

#include <string.h>

#define TH_MAX_WIDTH       16 /* lanes of the widest kernel */
#define TH_BLOCK           8  /* ops sampled before the first of them is resolved */
#define TH_KEY             4  /* numbers per key: one quaternion, or a vector and a zero */
#define TH_ENTRY           12 /* numbers of a palette entry or a matrix */
#define TH_QUAT_ENTRY      8  /* rotation, place and scale */
#define TH_ROW_BYTES       16 /* of one lane's matrix */
#define TH_CACHE_LINE_ROWS 8  /* rows of palette entries per cache line, in the smallest format */

enum th_joint_op_flags {
    TH_JOINT_OP_ROTATION = TH_OP_ROTATION,       /* the linear part comes from a key, otherwise from `local` */
    TH_JOINT_OP_SCALE = TH_OP_SCALE,             /* times a scale from a key; only with ROTATION */
    TH_JOINT_OP_TRANSLATION = TH_OP_TRANSLATION, /* the translation comes from a key, otherwise from `local` */
    TH_JOINT_OP_OFFSET = TH_OP_OFFSET, /* rotation times `offset` is added to the translation; only with ROTATION */
    TH_JOINT_OP_PIVOT = TH_OP_PIVOT, /* D rotates about `offset` and has no other translation; only with ROTATION and a
                               parent, without the other flags */
    TH_JOINT_OP_WEIGHTS = TH_OP_WEIGHTS, /* no joint: D is twelve morph weights from three keys; alone, without a
                                            parent, in the last ops */
    TH_JOINT_OP_NEAR = TH_OP_NEAR, /* th_quat_op, traits: the dot product of neighbouring keys is TH_NEAR or more */
    TH_JOINT_OP_ALIGNED = 128,     /* traits: no two rotations of any clips have a negative dot product */
    TH_JOINT_OP_STEADY = 256,      /* traits: it is TH_STEADY or more. With NEAR and ALIGNED, and without other keys */
    TH_JOINT_OP_MOVES = TH_JOINT_OP_ROTATION | TH_JOINT_OP_TRANSLATION,
};

#define TH_NO_PARENT UINT32_MAX

/* The op of one joint, or of twelve weights. */
typedef struct th_joint_op {
    float local[12]; /* the constant part of D */
    float offset[3]; /* c; PIVOT: a */
    uint32_t flags;  /* th_joint_op_flags */
    uint32_t parent; /* op of the parent, an earlier one; or TH_NO_PARENT */
    uint32_t key;    /* byte offset of its keys in a frame: rotation, scale, translation, as flags say, or weights */
    uint32_t traits; /* flags that only blending regards: NEAR, ALIGNED, STEADY */
    uint32_t product, product_count; /* its range in program.products */
} th_joint_op;

/* What the stages compute of each op. */
typedef enum th_pose_form {
    TH_POSE_MATRICES, /* D and M: TH_ENTRY numbers */
    TH_POSE_QUATS,    /* q and D b, if that moves; Q, p and s: TH_QUAT_ENTRY numbers */
    TH_POSE_FORMS,
} th_pose_form;

static inline th_pose_form th_pose_form_of(th_format format)
{
    return format >= TH_FORMAT_QUAT ? TH_POSE_QUATS : TH_POSE_MATRICES;
}

/* The least dot product of two rotation keys between which a parabola normalises as well as a square root: an error of
 * 6e-8 in the middle. 17 degrees. */
#define TH_NEAR 0.9885F

/* The least dot product of two rotation keys between which the length of an interpolated one is 1 but for 5e-5, by
 * which weights of layers may be off. 2.3 degrees. */
#define TH_STEADY 0.9998F

/* An op in the quaternion form. Flags: ROTATION, TRANSLATION, NEAR. */
typedef struct th_quat_op {
    float rotation[4];                                   /* of D; without ROTATION */
    float step[3];                                       /* s_parent (D b - b_parent), without what comes from a key */
    float parent_scale;                                  /* the factor of a translation key */
    float scale;                                         /* of M */
    uint32_t translation_key;                            /* byte offset in a frame */
    uint32_t flags, parent, key, product, product_count; /* as those of th_joint_op; key: of the rotation */
} th_quat_op;

/* A bone with a place of its own: Q = Q_op rotation, p = p_op + rotate(Q_op, step). */
typedef struct th_quat_product {
    float rotation[4], step[3], scale;
} th_quat_product;

/* The program in the quaternion form. */
typedef struct th_quat_program {
    const th_quat_op *ops; /* th_program.op_count */
    const th_quat_product *products;
    uint32_t product_count;
    const uint32_t *ready, *rows; /* as those of th_program, with two rows an entry */
    float steps;                  /* of QUAT16 in a scene unit: 1 / th_palette_step */
} th_quat_program;

/* A number n of a 16-bit key means base + span * n. The numbers of two frames, each times its shares (th_lanes), make a
 * whole number m together, which means base + share_span * m. */
typedef struct th_key_range {
    float base[TH_KEY], span[TH_KEY], share_span[TH_KEY];
} th_key_range;

typedef struct th_program {
    th_keys keys;
    th_interpolation curve; /* between frames: not AUTHORED, which plays as NLERP */
    const th_joint_op *ops;
    uint32_t op_count;
    size_t frame_bytes;          /* size of a frame */
    const th_key_range *ranges;  /* one per key of a frame; 16-bit keys only */
    const float (*products)[12]; /* inverse(X) B of the bones that need one more product: P = M * product */
    uint32_t product_count;
    uint32_t entry_count;  /* palette entries of an instance */
    const uint32_t *ready; /* by block: the rows of palettes below this can be written once the block is resolved */
    const uint32_t *rows;  /* by row of a palette: its position among the matrices, in bytes of a lane; padded with rows
                              of zeros to whole lines of any format */
    const th_quat_program *quat; /* NULL if the model cannot have quaternion palettes */
} th_program;

/* The inputs of the instances that are posed together. */
typedef struct th_lanes {
    _Alignas(
        64) float alpha[TH_MAX_WIDTH]; /* position between the frame at or before the lane's time, 0, and the next, 1 */
    uint32_t shares[TH_MAX_WIDTH];     /* the same for 16-bit keys: how many of TH_SHARES that frame has, in the low
                                          half, and the next, in the high half; negative, so that 16 bits hold them */
    const void *frame[TH_MAX_WIDTH];   /* that frame; CUBIC: the one before it. Others follow, frame_bytes apart */
} th_lanes;

static inline void th_lanes_set(th_lanes *lanes, uint32_t lane, const void *frame, float alpha)
{
    const uint32_t next = (uint32_t)(alpha * TH_SHARES + 0.5F);
    lanes->alpha[lane] = alpha;
    lanes->shares[lane] = (uint16_t)(next - TH_SHARES) | (0 - next) << 16;
    lanes->frame[lane] = frame;
}

/* The bytes at offset `at` of a lane's frame, or of a later frame. */
static inline const char *th_lanes_at(const th_lanes *lanes, int lane, size_t at)
{
    return (const char *)lanes->frame[lane] + at;
}

/* A layer of all lanes. */
typedef struct th_lane_layer {
    th_lanes keys;
    th_lanes start; /* of a layer that adds: the frame that it starts from */
    th_lanes masks; /* weights by op, in fours; if is_masked */
    _Alignas(64) float weight[TH_MAX_WIDTH];
    bool is_masked;
} th_lane_layer;

/* The layers of the instances that are posed together. Where a lane has fewer than another its weight is 0. */
typedef struct th_layering {
    uint32_t override_count, add_count;
    bool has_rest; /* some lane may need the rest pose to fill up */
    th_lanes rest;
    th_lane_layer
        layers[2 * TH_MAX_LAYERS]; /* those that override, then those that add: the most of any lane, of each */
} th_layering;

/* Sums of an op: rotation, scale and translation in the place of their keys, or twelve weights; the sum of weights. */
#define TH_SUM (TH_ENTRY + 1)

/* Floats of the scratch between the stages, aligned to 64: an op's result is TH_ENTRY or TH_QUAT_ENTRY vectors of all
 * lanes. */
static inline size_t th_pose_floats(th_pose_form form, size_t count, uint32_t width)
{
    return count * (form == TH_POSE_QUATS ? TH_QUAT_ENTRY : TH_ENTRY) * width;
}

/* Floats of the sums of a block. */
static inline size_t th_sum_floats(uint32_t width)
{
    return (size_t)TH_BLOCK * TH_SUM * width;
}

/* Number of results: of each op, of each product, and one of zeros. */
static inline uint32_t th_program_results(const th_program *program, th_pose_form form)
{
    return program->op_count + (form == TH_POSE_QUATS ? program->quat->product_count : program->product_count) + 1;
}

/* Computes D of ops [first, first + count), starting at the beginning of pose. count: at least 1, here and below. */
typedef void th_sample_fn(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes,
                          float *pose);

/* Where a layer that overrides comes among its like: they are blended into sums, which the first initializes. */
typedef enum th_layer_place {
    TH_LAYER_FIRST,
    TH_LAYER_NEXT,
    TH_LAYER_LAST, /* and nothing follows: D is computed instead of the sums. Not the first */
} th_layer_place;

/* Blends one more layer of ops [first, first + count). first: a multiple of TH_BLOCK, here and below. pose: in the form
 * asked for, out, if place is LAST. */
typedef void th_blend_layer_fn(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,
                               th_layer_place place, th_pose_form form, float *sums, float *pose);

/* Call after the last layer that overrides: fills up with the rest pose, unless that is NULL, and divides by the sums
 * of weights. */
typedef void th_settle_fn(const th_program *program, uint32_t first, uint32_t count, const th_lanes *rest, float *sums);

/* Adds a layer to what has been settled. */
typedef void th_add_layer_fn(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,
                             float *sums);

/* Computes D from sums. */
typedef void th_compose_fn(const th_program *program, uint32_t first, uint32_t count, const float *sums, float *pose);

/* The next palette bytes to be written: from offset `at` of each lane's palette. */
typedef struct th_prefetch {
    char *const *palettes;
    size_t at;
} th_prefetch;

/* Computes M of the same ops from D in pose, and their products. All earlier ops must be resolved. prefetch: lines to
 * prefetch meanwhile; NULL: none. */
typedef void th_resolve_fn(const th_program *program, uint32_t first, uint32_t count, const float *pose,
                           float *matrices, const th_prefetch *prefetch);

/* Writes rows [first, end) of palettes in whole lines, each lane's in order, with zeros after the end of a palette.
 * first, end: multiples of TH_CACHE_LINE_ROWS. palettes: by lane, aligned to 64. Lanes with the same keys may share
 * one. */
typedef void th_write_fn(const th_program *program, uint32_t first, uint32_t end, const float *matrices,
                         char *const *palettes);

/* Writes `value` to `count` floats with the widest stores of the instruction set. out: aligned to 64; count: whole
 * lines. */
typedef void th_fill_fn(float *out, size_t count, float value);

/* Reads whole lines and returns their sum, so that none can be left out. */
typedef double th_read_fn(const float *in, size_t count);

/* Does independent chains of multiply-adds in all lanes, and returns how many operations they were. */
typedef uint64_t th_multiply_add_fn(uint32_t rounds);

/* Copies whole lines with non-temporal stores, in order. Both aligned to 64, bytes a multiple of 64. */
typedef void th_stream_fn(void *to, const void *from, size_t bytes);

/* Call after the last non-temporal store. */
typedef void th_fence_fn(void);

typedef struct th_kernels {
    uint32_t width; /* lanes */
    th_sample_fn *sample[TH_POSE_FORMS][TH_KEYS_COUNT][TH_INTERPOLATION_COUNT];
    th_blend_layer_fn *blend_layer[TH_KEYS_COUNT][TH_INTERPOLATION_COUNT];
    th_settle_fn *settle[TH_KEYS_COUNT];
    th_add_layer_fn *add_layer[TH_KEYS_COUNT][TH_INTERPOLATION_COUNT];
    th_compose_fn *compose[TH_POSE_FORMS];
    th_resolve_fn *resolve[TH_POSE_FORMS];
    th_write_fn *write[TH_FORMAT_COUNT][2]; /* [][streamed] */
    th_fill_fn *fill[2];                    /* [streamed] */
    th_read_fn *read;
    th_multiply_add_fn *multiply_add;
    th_stream_fn *stream;
    th_fence_fn *fence;
} th_kernels;

/* Call once before resolving. */
static inline void th_kernels_begin(const th_kernels *kernels, const th_program *program, th_pose_form form,
                                    float *matrices)
{
    const size_t used = th_pose_floats(form, th_program_results(program, form) - 1, kernels->width);
    memset(matrices + used, 0, th_pose_floats(form, 1, kernels->width) * sizeof *matrices);
}

/* Floats of the scratch of all stages. */
static inline size_t th_scratch_floats(const th_program *program, th_pose_form form, uint32_t width)
{
    return th_pose_floats(form, th_program_results(program, form) + TH_BLOCK, width) + th_sum_floats(width);
}

/* Rows of palettes that can be written once the block of this op is resolved. */
static inline uint32_t th_program_ready(const th_program *program, th_pose_form form, uint32_t op)
{
    return (form == TH_POSE_QUATS ? program->quat->ready : program->ready)[op / TH_BLOCK];
}

/* How palettes are written. */
typedef struct th_output {
    th_format format;
    bool streamed;
    bool prefetches; /* the lines of f32 palettes, while the matrices to be written there are computed */
} th_output;

/* Computes D of ops [first, first + count) from layers. sums: th_sum_floats. */
static inline void th_kernels_blend(const th_kernels *kernels, const th_program *program, uint32_t first,
                                    uint32_t count, const th_layering *layering, th_pose_form form, float *sums,
                                    float *pose)
{
    th_blend_layer_fn *const blend = kernels->blend_layer[program->keys][program->curve];
    const th_lane_layer *layers = layering->layers;
    const uint32_t last = layering->override_count - 1;
    const bool is_all = last > 0 && layering->add_count == 0 && !layering->has_rest;
    blend(program, first, count, layers, TH_LAYER_FIRST, form, sums, pose);
    for (uint32_t k = 1; k <= last; k++)
        blend(program, first, count, layers + k, is_all && k == last ? TH_LAYER_LAST : TH_LAYER_NEXT, form, sums, pose);
    if (is_all)
        return;
    kernels->settle[program->keys](program, first, count, layering->has_rest ? &layering->rest : NULL, sums);
    for (uint32_t k = 1; k <= layering->add_count; k++)
        kernels->add_layer[program->keys][program->curve](program, first, count, layers + last + k, sums);
    kernels->compose[form](program, first, count, sums, pose);
}

/* Where th_kernels_pose leaves M of the ops, as resolving writes them. scratch: that of all stages. */
static inline float *th_scratch_matrices(float *scratch, th_pose_form form, uint32_t width)
{
    return scratch + th_sum_floats(width) + th_pose_floats(form, TH_BLOCK, width);
}

/* Writes palettes of `width` lanes, all ops. What lanes play: either `lanes` or, if that is not NULL, `layering`. */
static inline void th_kernels_pose(const th_kernels *kernels, const th_program *program, const th_lanes *lanes,
                                   const th_layering *layering, th_output output, float *scratch, char *const *palettes)
{
    const th_pose_form form = th_pose_form_of(output.format);
    float *const sums = scratch, *const pose = sums + th_sum_floats(kernels->width),
                 *const matrices = th_scratch_matrices(scratch, form, kernels->width);
    th_sample_fn *const sample = kernels->sample[form][program->keys][program->curve];
    th_write_fn *const write = kernels->write[output.format][output.streamed];
    uint32_t written = 0;
    th_kernels_begin(kernels, program, form, matrices);
    for (uint32_t first = 0; first < program->op_count; first += TH_BLOCK) {
        const uint32_t rest = program->op_count - first, count = rest < TH_BLOCK ? rest : TH_BLOCK;
        const uint32_t ready = th_program_ready(program, form, first);
        if (layering)
            th_kernels_blend(kernels, program, first, count, layering, form, sums, pose);
        else
            sample(program, first, count, lanes, pose);
        const th_prefetch prefetch = {palettes, (size_t)written * TH_ROW_BYTES};
        kernels->resolve[form](program, first, count, pose, matrices, output.prefetches ? &prefetch : NULL);
        write(program, written, ready, matrices, palettes);
        written = ready;
    }
}

/* Error against double precision: rounding only, about 1e-7 of the model's size per level of depth. Kernels with fused
 * multiply-add agree to the last bit, and so do those without. */
extern const th_kernels th_kernels_scalar, th_kernels_sse4, th_kernels_avx2, th_kernels_avx512, th_kernels_neon;

#endif
