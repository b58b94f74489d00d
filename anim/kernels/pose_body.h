/* The algorithm of pose.h, written once over a vector of WIDTH floats. Each pose_<isa>.c includes a wide_<isa>.h, which
 * defines that vector and how lanes load keys and store palettes, and then this file. */

/* For functions with several callers. Otherwise gcc -O2 does not inline them, or spills vectors to memory, and AVX2 or
 * SSE4 takes a quarter longer. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef struct wide34 {
    wf m[12];
} wide34;

/* Element by element, because an assignment may become a call of memcpy. */
ALWAYS_INLINE void copy(wide34 *to, const wide34 *from)
{
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++)
        to->m[i] = from->m[i];
}

ALWAYS_INLINE void copy_linear(wide34 *to, const wide34 *from)
{
#pragma GCC unroll 12
    for (int row = 0; row < 12; row += 4)
#pragma GCC unroll 12
        for (int col = 0; col < 3; col++)
            to->m[row + col] = from->m[row + col];
}

ALWAYS_INLINE void clear(wf a[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        a[i] = wf_set1(0);
}

/* ---- sampling ---- */

/* Interpolation between frames: the factors that a mode needs, from the lanes' alphas. */
typedef struct blend {
    wf weights[4][4]; /* in the shape of keys. NLERP: [0] is alpha; CUBIC: weights of the four frames */
    wi shares[4];     /* of 16-bit keys, in the shape of keys */
    wf t, s;          /* SLERP: alpha and 1 - alpha, in lane order, */
    wf t_square, s_square;
#ifdef PAIRS
    wf pairs[8]; /* NLERP: alpha in the shape of pairs */
#endif
} blend;

/* Catmull-Rom (interpolation.h) for frames at equal distances: the weights of the four frames. */
static inline void cubic_weights(const float *alpha, float out[4][TH_MAX_WIDTH])
{
    for (int i = 0; i < WIDTH; i++) {
        const float t = alpha[i], t2 = t * t, t3 = t2 * t;
        out[0][i] = 0.5F * (2 * t2 - t3 - t);
        out[1][i] = 0.5F * (3 * t3 - 5 * t2) + 1;
        out[2][i] = 0.5F * (4 * t2 - 3 * t3 + t);
        out[3][i] = 0.5F * (t3 - t2);
    }
}

ALWAYS_INLINE blend blend_of(const th_lanes *lanes, th_interpolation mode)
{
    blend b;
    if (mode == TH_INTERPOLATION_CUBIC) {
        _Alignas(64) float weights[4][TH_MAX_WIDTH];
        cubic_weights(lanes->alpha, weights);
        for (int i = 0; i < 4; i++)
            wf_broadcast(weights[i], b.weights[i]);
        return b;
    }
    wf_broadcast(lanes->alpha, b.weights[0]);
    wi_broadcast(lanes->shares, b.shares);
#ifdef PAIRS
    wf_broadcast_pairs(lanes->alpha, b.pairs);
#endif
    b.t = wf_load(lanes->alpha);
    b.s = wf_sub(wf_set1(1), b.t);
    b.t_square = wf_mul(b.t, b.t);
    b.s_square = wf_mul(b.s, b.s);
    return b;
}

/* Mode and key format; compile-time constants in every call. */
typedef struct sample_mode {
    th_keys keys;
    th_interpolation mode;
} sample_mode;

ALWAYS_INLINE void load(const th_lanes *from, sample_mode w, size_t at, wf out[4])
{
    if (w.keys == TH_KEYS_16)
        wf_load_shorts(from, at, out);
    else
        wf_load_floats(from, at, out);
}

/* Converts numbers of 16-bit keys to their values, in the shape of keys. */
ALWAYS_INLINE void dequantize(const float base[TH_KEY], const float span[TH_KEY], wf key[4])
{
    wf bases[4], spans[4];
    wf_repeat(base, bases);
    wf_repeat(span, spans);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        key[i] = wf_madd(key[i], spans[i], bases[i]);
}

ALWAYS_INLINE const th_key_range *range_of(const th_program *program, size_t at)
{
    return program->ranges + at / th_keys_bytes(TH_KEYS_16);
}

/* Interpolates 16-bit keys by NLERP, in the shape of keys: `count` keys that follow each other, 1 or 2. Weighting whole
 * numbers takes fewer instructions than converting both keys. */
ALWAYS_INLINE void interpolate_shorts(const th_program *program, const th_lanes *from, const blend *by, size_t at,
                                      int count, wf *out)
{
    const th_key_range *range = range_of(program, at);
    wf_blend_shorts(from, at, at + program->frame_bytes, by->shares, count, out);
#pragma GCC unroll 12
    for (int i = 0; i < count; i++)
        dequantize(range[i].base, range[i].share_span, out + 4 * i);
}

ALWAYS_INLINE wf polynomial(wf x, const float *coefficients, int degree)
{
    wf sum = wf_set1(coefficients[degree]);
#pragma GCC unroll 12
    for (int i = degree; i-- > 0;)
        sum = wf_madd(sum, x, wf_set1(coefficients[i]));
    return sum;
}

/* Slerp without a sine: a and b are weighted by sin((1 - t) angle) and sin(t angle). Only the ratio matters, because
 * the result may have any length. With u = 1 - cos(angle), the square of the angle is u times a polynomial in u, and
 * the sine of an angle divided by the angle is a polynomial in its square. Both are least-squares fits at Chebyshev
 * nodes for up to 180 degrees between two keys: error at most 5e-8 rad, below single precision. */
ALWAYS_INLINE void slerp(const blend *by, const wf a[4], const wf b[4], wf out[4])
{
    static const float angle[] = {TH_SLERP_ANGLE}, sine[] = {TH_SLERP_SINE};
    const wf cosine = wf_madd(a[0], b[0], wf_madd(a[1], b[1], wf_madd(a[2], b[2], wf_mul(a[3], b[3]))));
    const wf u = wf_sub(wf_set1(1), cosine);
    const wf square = wf_mul(u, polynomial(u, angle, 6));
    const wf x = wf_mul(by->s_square, square), y = wf_mul(by->t_square, square);
    const wf of_a = wf_mul(by->s, polynomial(x, sine, 4));
    const wf of_b = wf_mul(by->t, polynomial(y, sine, 4));
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = wf_madd(of_a, a[i], wf_mul(of_b, b[i]));
}

/* Interpolates in the shape of keys. stride: bytes between frames. */
ALWAYS_INLINE void blend_keys(const th_lanes *from, const blend *by, sample_mode w, size_t at, size_t stride, wf out[4])
{
    wf a[4], b[4];
    load(from, w, at, a);
    if (w.mode == TH_INTERPOLATION_STEP) {
#pragma GCC unroll 12
        for (int i = 0; i < 4; i++)
            out[i] = a[i];
        return;
    }
    load(from, w, at + stride, b);
    if (w.mode != TH_INTERPOLATION_CUBIC) {
#pragma GCC unroll 12
        for (int i = 0; i < 4; i++)
            out[i] = wf_madd(by->weights[0][i], wf_sub(b[i], a[i]), a[i]);
        return;
    }
    wf c[4], d[4];
    load(from, w, at + 2 * stride, c);
    load(from, w, at + 3 * stride, d);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = wf_madd(
            by->weights[0][i], a[i],
            wf_madd(by->weights[1][i], b[i], wf_madd(by->weights[2][i], c[i], wf_mul(by->weights[3][i], d[i]))));
}

/* Not by slerp: for modes whose rotations are blended number by number. Layers come here for NLERP alone, as only it
 * has TH_JOINT_OP_STEADY. */
ALWAYS_INLINE void interpolate_keys(const th_program *program, const th_lanes *from, const blend *by, sample_mode w,
                                    size_t at, wf out[4])
{
    if (w.keys == TH_KEYS_16 && w.mode == TH_INTERPOLATION_NLERP) {
        interpolate_shorts(program, from, by, at, 1, out);
        return;
    }
    blend_keys(from, by, w, at, program->frame_bytes, out);
    if (w.keys == TH_KEYS_16)
        dequantize(range_of(program, at)->base, range_of(program, at)->span, out);
}

ALWAYS_INLINE void interpolate(const th_program *program, const th_lanes *from, const blend *by, sample_mode w,
                               size_t at, bool rotation, wf out[4])
{
    if (rotation && w.mode == TH_INTERPOLATION_SLERP) {
        wf a[4], b[4];
        load(from, w, at, a);
        load(from, w, at + program->frame_bytes, b);
        if (w.keys == TH_KEYS_16) {
            dequantize(range_of(program, at)->base, range_of(program, at)->span, a);
            dequantize(range_of(program, at)->base, range_of(program, at)->span, b);
        }
        wf_transpose(a);
        wf_transpose(b);
        slerp(by, a, b, out);
        return;
    }
    interpolate_keys(program, from, by, w, at, out);
    wf_transpose(out);
}

/* Rotation matrix of a quaternion of any length: normalising takes 2 / dot(q, q), without a square root. */
ALWAYS_INLINE void linear_from_quat(const wf q[4], wide34 *d)
{
    wf x = q[0], y = q[1], z = q[2], w = q[3];
    wf dot = wf_madd(x, x, wf_madd(y, y, wf_madd(z, z, wf_mul(w, w))));
    wf k = wf_div(wf_set1(2), dot), one = wf_set1(1);
    wf xk = wf_mul(x, k), yk = wf_mul(y, k), zk = wf_mul(z, k);
    wf wx = wf_mul(w, xk), wy = wf_mul(w, yk), wz = wf_mul(w, zk);
    d->m[0] = wf_nmadd(y, yk, wf_nmadd(z, zk, one));
    d->m[1] = wf_msub(x, yk, wz);
    d->m[2] = wf_madd(x, zk, wy);
    d->m[4] = wf_madd(x, yk, wz);
    d->m[5] = wf_nmadd(x, xk, wf_nmadd(z, zk, one));
    d->m[6] = wf_msub(y, zk, wx);
    d->m[8] = wf_msub(x, zk, wy);
    d->m[9] = wf_madd(y, zk, wx);
    d->m[10] = wf_nmadd(x, xk, wf_nmadd(y, yk, one));
}

/* Computes D of an op from what its keys are at a time, as far as flags say that there are keys. flags: those of the
 * op, a constant for common values. rotation: of any length. */
ALWAYS_INLINE void compose(const th_joint_op *op, unsigned flags, const wf rotation[4], const wf scale[3],
                           const wf translation[3], wide34 *out)
{
    wide34 d;
    if (flags & TH_JOINT_OP_ROTATION) {
        linear_from_quat(rotation, &d);
    } else {
#pragma GCC unroll 12
        for (int row = 0; row < 3; row++)
#pragma GCC unroll 12
            for (int col = 0; col < 3; col++)
                d.m[4 * row + col] = wf_set1(op->local[4 * row + col]);
    }
    if (flags & TH_JOINT_OP_SCALE) {
#pragma GCC unroll 12
        for (int row = 0; row < 3; row++)
#pragma GCC unroll 12
            for (int col = 0; col < 3; col++)
                d.m[4 * row + col] = wf_mul(d.m[4 * row + col], scale[col]);
    }
    if (flags & TH_JOINT_OP_PIVOT) {
        copy_linear(out, &d);
        return;
    }
#pragma GCC unroll 12
    for (int row = 0; row < 3; row++) {
        const wf *r = d.m + 4 * row;
        const wf moved = flags & TH_JOINT_OP_TRANSLATION ? translation[row] : wf_set1(op->local[4 * row + 3]);
        d.m[4 * row + 3] = moved;
        if (flags & TH_JOINT_OP_OFFSET)
            d.m[4 * row + 3] =
                wf_madd(r[0], wf_set1(op->offset[0]),
                        wf_madd(r[1], wf_set1(op->offset[1]), wf_madd(r[2], wf_set1(op->offset[2]), moved)));
    }
    copy(out, &d);
}

/* Computes D of an op. flags: as for compose. */
ALWAYS_INLINE void sample_op(const th_program *program, const th_joint_op *op, unsigned flags, const th_lanes *from,
                             const blend *by, sample_mode w, wide34 *out)
{
    const size_t key_bytes = th_keys_bytes(w.keys);
    size_t key = op->key;
    wf rotation[4], scale[4], translation[4];
    clear(rotation); /* so that the compiler sees a value on each of its paths */
    clear(scale);
    clear(translation);
    if (flags & TH_JOINT_OP_ROTATION) {
        interpolate(program, from, by, w, key, true, rotation);
        key += key_bytes;
    }
    if (flags & TH_JOINT_OP_SCALE) {
        interpolate(program, from, by, w, key, false, scale);
        key += key_bytes;
    }
    if (flags & TH_JOINT_OP_TRANSLATION)
        interpolate(program, from, by, w, key, false, translation);
    compose(op, flags, rotation, scale, translation, out);
}

/* Whether the keys of two joints are loaded at a time. */
ALWAYS_INLINE bool in_pairs(sample_mode w)
{
#ifdef PAIRS
    return w.mode == TH_INTERPOLATION_NLERP;
#else
    return w.mode == TH_INTERPOLATION_NLERP && w.keys == TH_KEYS_16;
#endif
}

/* Interpolates the keys of two rotations that follow each other, by NLERP without normalizing. k: the first, then the
 * second. */
ALWAYS_INLINE void interpolate_pair(const th_program *program, const th_lanes *from, const blend *by, sample_mode w,
                                    uint32_t key, wf k[8])
{
    if (w.keys == TH_KEYS_16) {
        interpolate_shorts(program, from, by, key, 2, k);
        wf_transpose(k);
        wf_transpose(k + 4);
        return;
    }
#ifdef PAIRS
    wf next[8];
    wf_load_pairs(from, key, k);
    wf_load_pairs(from, key + program->frame_bytes, next);
#pragma GCC unroll 12
    for (int i = 0; i < 8; i++)
        k[i] = wf_madd(by->pairs[i], wf_sub(next[i], k[i]), k[i]);
    wf_split_pairs(k);
#endif
}

/* Computes D of an op and the next one, both ROTATION and PIVOT. The keys of an op follow those of the op before. */
ALWAYS_INLINE void sample_op_pair(const th_program *program, const th_joint_op *op, const th_lanes *from,
                                  const blend *by, sample_mode w, wide34 *out)
{
    wf k[8];
    interpolate_pair(program, from, by, w, op->key, k);
#pragma GCC unroll 12
    for (int i = 0; i < 2; i++) {
        wide34 d;
        linear_from_quat(k + 4 * i, &d);
        copy_linear(out + i, &d);
    }
}

ALWAYS_INLINE void sample_ops(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes,
                              sample_mode w, float *pose)
{
    enum {
        COMMON = TH_JOINT_OP_ROTATION | TH_JOINT_OP_PIVOT, /* nearly all joints of most characters */
        OFFSET = TH_JOINT_OP_ROTATION | TH_JOINT_OP_OFFSET,
    };
    const th_lanes from = *lanes; /* a copy, which no store to a pose can alias */
    const blend by = blend_of(lanes, w.mode);
    const th_joint_op *op = program->ops + first, *end = op + count;
    for (wide34 *out = (wide34 *)pose; op != end; op++, out++) {
        if (in_pairs(w) && end - op > 1 && op->flags == COMMON && op[1].flags == COMMON) {
            sample_op_pair(program, op, &from, &by, w, out);
            op++;
            out++;
            continue;
        }
        if (__builtin_expect(op->flags == COMMON, 1))
            sample_op(program, op, COMMON, &from, &by, w, out);
        else if (op->flags == OFFSET)
            sample_op(program, op, OFFSET, &from, &by, w, out);
        else
            sample_op(program, op, op->flags, &from, &by, w, out);
    }
}

ALWAYS_INLINE void sample_weights(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes,
                                  sample_mode w, float *pose)
{
    const blend by = blend_of(lanes, w.mode);
    wide34 *out = (wide34 *)pose;
    for (const th_joint_op *op = program->ops + first, *end = op + count; op != end; op++, out++)
        for (size_t k = 0; k < TH_ENTRY / TH_KEY; k++)
            interpolate(program, lanes, &by, w, op->key + k * th_keys_bytes(w.keys), false, out->m + k * TH_KEY);
}

/* How many of the ops come before those of weights, which are the last. */
static uint32_t count_joints(const th_program *program, uint32_t first, uint32_t count)
{
    while (count > 0 && (program->ops[first + count - 1].flags & TH_JOINT_OP_WEIGHTS))
        count--;
    return count;
}

/* Blocks with weights have a function that is not inlined, so that they do not change the code for joints. */
#define SAMPLE(name, keys, mode)                                                                                       \
    static __attribute__((noinline)) void name##_weights(const th_program *program, uint32_t first, uint32_t count,    \
                                                         const th_lanes *lanes, float *pose);                          \
    static void name(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes, float *pose)    \
    {                                                                                                                  \
        if (__builtin_expect(program->ops[first + count - 1].flags & TH_JOINT_OP_WEIGHTS, 0))                          \
            name##_weights(program, first, count, lanes, pose);                                                        \
        else                                                                                                           \
            sample_ops(program, first, count, lanes, (sample_mode){keys, mode}, pose);                                 \
    }                                                                                                                  \
    static void name##_weights(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes,       \
                               float *pose)                                                                            \
    {                                                                                                                  \
        const uint32_t joints = count_joints(program, first, count);                                                   \
        if (joints > 0)                                                                                                \
            name(program, first, joints, lanes, pose);                                                                 \
        sample_weights(program, first + joints, count - joints, lanes, (sample_mode){keys, mode},                      \
                       pose + th_pose_floats(TH_POSE_MATRICES, joints, WIDTH));                                        \
    }

SAMPLE(step_32, TH_KEYS_32, TH_INTERPOLATION_STEP)
SAMPLE(nlerp_32, TH_KEYS_32, TH_INTERPOLATION_NLERP)
SAMPLE(slerp_32, TH_KEYS_32, TH_INTERPOLATION_SLERP)
SAMPLE(cubic_32, TH_KEYS_32, TH_INTERPOLATION_CUBIC)
SAMPLE(step_16, TH_KEYS_16, TH_INTERPOLATION_STEP)
SAMPLE(nlerp_16, TH_KEYS_16, TH_INTERPOLATION_NLERP)
SAMPLE(slerp_16, TH_KEYS_16, TH_INTERPOLATION_SLERP)
SAMPLE(cubic_16, TH_KEYS_16, TH_INTERPOLATION_CUBIC)

/* ---- resolving ---- */

/* The linear part of one row of a matrix product. */
ALWAYS_INLINE void multiply_linear(const wf r[3], const wide34 *b, wf out[3])
{
#pragma GCC unroll 12
    for (int col = 0; col < 3; col++)
        out[col] = wf_madd(r[0], b->m[col], wf_madd(r[1], b->m[4 + col], wf_mul(r[2], b->m[8 + col])));
}

/* Not inlined, so that the common kind of op can use all registers. */
static __attribute__((noinline)) void multiply(const wide34 *a, const wide34 *b, wide34 *out)
{
    wide34 d;
    copy_linear(&d, b);
#pragma GCC unroll 12
    for (int row = 0; row < 12; row += 4) {
        const wf r[4] = {a->m[row], a->m[row + 1], a->m[row + 2], a->m[row + 3]};
        multiply_linear(r, &d, out->m + row);
        out->m[row + 3] = wf_madd(r[0], b->m[3], wf_madd(r[1], b->m[7], wf_madd(r[2], b->m[11], r[3])));
    }
}

/* The matrix product for a b that rotates about `pivot`. */
ALWAYS_INLINE void multiply_pivot(const wide34 *a, const wide34 *b, const float pivot[3], wide34 *out)
{
    const wf x = wf_set1(pivot[0]), y = wf_set1(pivot[1]), z = wf_set1(pivot[2]);
    wide34 d;
    copy_linear(&d, b);
#pragma GCC unroll 12
    for (int row = 0; row < 12; row += 4) {
        const wf r[4] = {a->m[row], a->m[row + 1], a->m[row + 2], a->m[row + 3]};
        wf turned[3];
        multiply_linear(r, &d, turned);
#pragma GCC unroll 12
        for (int col = 0; col < 3; col++)
            out->m[row + col] = turned[col];
        out->m[row + 3] = wf_madd(wf_sub(r[0], turned[0]), x,
                                  wf_madd(wf_sub(r[1], turned[1]), y, wf_madd(wf_sub(r[2], turned[2]), z, r[3])));
    }
}

static void multiply_products(const th_program *program, const th_joint_op *op, const wide34 *m, wide34 *out)
{
    for (uint32_t p = op->product; p < op->product + op->product_count; p++) {
        wide34 product;
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++)
            product.m[i] = wf_set1(program->products[p][i]);
        multiply(m, &product, out + p);
    }
}

/* Each op of a block prefetches lines of some lanes; all at once they would delay the loads of keys. Half of what the
 * block fills is enough, because the processor prefetches the lines after those itself. */
ALWAYS_INLINE uint32_t prefetch_lines(const th_prefetch *prefetch, uint32_t lane)
{
    enum { LANES = (WIDTH + TH_BLOCK - 1) / TH_BLOCK, LINES = TH_BLOCK * TH_ENTRY * sizeof(float) / TH_CACHE_LINE / 2 };
#pragma GCC unroll 12
    for (int i = 0; i < LANES; i++, lane++) {
        const char *line = prefetch->palettes[lane % WIDTH] + prefetch->at;
#pragma GCC unroll 12
        for (size_t l = 0; l < LINES; l++)
            __builtin_prefetch(line + l * TH_CACHE_LINE, 1);
    }
    return lane;
}

static void resolve_ops(const th_program *program, uint32_t first, uint32_t count, const float *pose, float *matrices,
                        const th_prefetch *prefetch)
{
    wide34 *const all = (wide34 *)matrices, *m = all + first;
    const wide34 *d = (const wide34 *)pose;
    const th_joint_op *op = program->ops + first, *end = op + count;
    uint32_t lane = 0;
    for (; op != end; op++, d++, m++) {
        if (prefetch)
            lane = prefetch_lines(prefetch, lane);
        if (op->flags & TH_JOINT_OP_PIVOT)
            multiply_pivot(all + op->parent, d, op->offset, m);
        else if (op->parent != TH_NO_PARENT)
            multiply(all + op->parent, d, m);
        else
            copy(m, d);
        if (__builtin_expect(op->product_count > 0, 0))
            multiply_products(program, op, m, all + program->op_count);
    }
}

#include "pose_quat.h"

#include "pose_layers.h"

/* ---- writing ---- */

/* A processor with more incomplete lines than write-combining buffers sends each half separately. So eight lanes or
 * more write whole lines; narrower kernels do if their registers can hold a line of each lane. */
#ifndef WHOLE_LINES
#define WHOLE_LINES (WIDTH >= 8)
#endif

enum {
    TILE = WIDTH < 4 ? 4 : WIDTH, /* numbers of all lanes that are transposed together: at least a row */
    TILE_VECTORS = TILE / WIDTH,  /* vectors per lane */
    TILES = WHOLE_LINES ? TH_CACHE_LINE / sizeof(float) / TILE : 1,
};

/* Rows of numbers that become one row of a palette. */
ALWAYS_INLINE size_t rows_per_row(th_format format)
{
    return format == TH_FORMAT_QUAT16 ? 2 : 1;
}

/* Rounds a rotation and a place of all lanes to whole numbers (th_quat16). r is the vector part of the quaternion over
 * 1 + w, or of the opposite quaternion if w is negative. Added to 3 * 2^22, a number of less than 2^22 is rounded, and
 * the low bits are those of two's complement. */
ALWAYS_INLINE void pack_quat(const float *rotation, const float *place, float steps, wf out[4])
{
    const wf w = wf_load(rotation + 3 * WIDTH), round = wf_set1(TH_ROUNDING);
    const wf turn_steps = wf_div(wf_set1(TH_TURN_STEPS), wf_add(w, wf_sign(w))), place_steps = wf_set1(steps);
    wf r[3], p[3];
#pragma GCC unroll 16
    for (int i = 0; i < 3; i++) {
        r[i] = wf_madd(wf_load(rotation + i * WIDTH), turn_steps, round);
        p[i] = wf_madd(wf_load(place + i * WIDTH), place_steps, round);
    }
    out[0] = wf_pack(p[0], r[1], 0);
    out[1] = wf_pack(p[1], r[1], 10);
    out[2] = wf_pack(p[2], r[2], 0);
    out[3] = wf_pack(r[0], r[2], 10);
}

/* Loads the next numbers of all lanes' palettes, transposed to lane order. */
ALWAYS_INLINE void load_tile(const uint32_t *places, th_format format, float steps, const float *matrices, wf out[TILE])
{
    const size_t count = rows_per_row(format) * TILE / 4;
    const float *rows[TILE / 2];
#pragma GCC unroll 16
    for (size_t i = 0; i < count; i++)
        rows[i] = (const float *)(const void *)((const char *)matrices + (size_t)places[i] * WIDTH);
    if (format == TH_FORMAT_QUAT16) {
#pragma GCC unroll 16
        for (size_t i = 0; i < TILE; i += 4)
            pack_quat(rows[i / 2], rows[i / 2 + 1], steps, out + i);
        wf_transpose_lanes(out);
        return;
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < TILE; i++)
        out[i] = wf_load(rows[i / 4] + i % 4 * WIDTH);
    wf_transpose_lanes(out);
}

/* wf_store or wf_stream. A function instead of a flag, because clang merges the two branches into one store that is not
 * streamed. */
typedef void store_fn(float *out, wf a);

ALWAYS_INLINE void write_palettes(const th_program *program, uint32_t first, uint32_t end, const float *matrices,
                                  th_format format, store_fn *store, char *const *palettes)
{
    const size_t pair = rows_per_row(format);
    const bool quats = th_pose_form_of(format) == TH_POSE_QUATS;
    const float steps = quats ? program->quat->steps : 0;
    const size_t whole = th_cache_line_round(program->entry_count * th_palette_entry_bytes(format)) / sizeof(float);
    const size_t last = 4 * end / pair < whole ? 4 * end / pair : whole;
    const uint32_t *const rows = quats ? program->quat->rows : program->rows; /* copies, which no store can alias */
    float *out[WIDTH];
#pragma GCC unroll 16
    for (size_t i = 0; i < WIDTH; i++)
        out[i] = (float *)(void *)palettes[i];
    for (size_t at = 4 * first / pair; at < last; at += TILES * TILE) {
        wf r[TILES][TILE];
#pragma GCC unroll 16
        for (size_t s = 0; s < TILES; s++)
            load_tile(rows + (at + s * TILE) * pair / 4, format, steps, matrices, r[s]);
#pragma GCC unroll 16
        for (size_t i = 0; i < TILE; i++) {
#pragma GCC unroll 16
            for (size_t s = 0; s < TILES; s++)
                store(out[i / TILE_VECTORS] + at + s * TILE + i % TILE_VECTORS * WIDTH, r[s][i]);
        }
    }
}

#define WRITE(name, format, store)                                                                                     \
    static void name(const th_program *program, uint32_t first, uint32_t end, const float *matrices,                   \
                     char *const *palettes)                                                                            \
    {                                                                                                                  \
        write_palettes(program, first, end, matrices, format, store, palettes);                                        \
    }

WRITE(write_f32, TH_FORMAT_F32, wf_store)
WRITE(stream_f32, TH_FORMAT_F32, wf_stream)
WRITE(write_quat, TH_FORMAT_QUAT, wf_store)
WRITE(stream_quat, TH_FORMAT_QUAT, wf_stream)
WRITE(write_quat16, TH_FORMAT_QUAT16, wf_store)
WRITE(stream_quat16, TH_FORMAT_QUAT16, wf_stream)

/* ---- the floor ---- */

ALWAYS_INLINE void fill_lines(float *out, size_t count, float value, store_fn *store)
{
    for (const float *end = out + count; out != end; out += WIDTH)
        store(out, wf_set1(value));
}

static void fill_cached(float *out, size_t count, float value)
{
    fill_lines(out, count, value, wf_store);
}

static void fill_streamed(float *out, size_t count, float value)
{
    fill_lines(out, count, value, wf_stream);
}

/* ---- ceilings ---- */

/* More than latency times throughput of any processor, and few enough for its registers. */
enum { CHAINS = 12 };

/* So that the compiler computes it. */
static void keep(wf a)
{
    static volatile float kept;
    _Alignas(64) float lanes[TH_MAX_WIDTH];
    wf_store(lanes, a);
    for (int i = 0; i < WIDTH; i++)
        kept = lanes[i];
    (void)kept;
}

static uint64_t multiply_add(uint32_t rounds)
{
    const wf factor = wf_set1(0.999F), summand = wf_set1(0.001F);
    wf chains[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        chains[c] = wf_set1((float)c);
    for (uint32_t r = 0; r < rounds; r++) {
#pragma GCC unroll 16
        for (int c = 0; c < CHAINS; c++)
            chains[c] = wf_madd(chains[c], factor, summand);
    }
    wf sum = chains[0];
    for (int c = 1; c < CHAINS; c++)
        sum = wf_madd(chains[c], factor, sum);
    keep(sum);
    return (uint64_t)2 * WIDTH * CHAINS * rounds;
}

static double read_lines(const float *in, size_t count)
{
    enum { SUMS = 8 };
    const wf one = wf_set1(1);
    wf sums[SUMS];
#pragma GCC unroll 16
    for (int i = 0; i < SUMS; i++)
        sums[i] = wf_set1(0);
    for (const float *end = in + count; in < end; in += SUMS * WIDTH) {
#pragma GCC unroll 16
        for (int i = 0; i < SUMS; i++)
            sums[i] = wf_madd(wf_load(in + i * WIDTH), one, sums[i]);
    }
    _Alignas(64) float lanes[TH_MAX_WIDTH];
    double sum = 0;
    for (int i = 0; i < SUMS; i++) {
        wf_store(lanes, sums[i]);
        for (int l = 0; l < WIDTH; l++)
            sum += (double)lanes[l];
    }
    return sum;
}

/* ---- past the caches ---- */

static void stream_lines(void *to, const void *from, size_t bytes)
{
    const float *in = from;
    for (float *out = to; bytes > 0; bytes -= 64, in += 16, out += 16) {
#pragma GCC unroll 16
        for (size_t i = 0; i < 16; i += WIDTH)
            wf_stream(out + i, wf_load(in + i));
    }
}

static void fence_stores(void)
{
    wf_fence();
}

/* No clip is compiled as AUTHORED. */
#define KERNELS                                                                                                        \
    {                                                                                                                  \
        .width = WIDTH,                                                                                                \
        .sample = {{{NULL, step_32, nlerp_32, slerp_32, cubic_32}, {NULL, step_16, nlerp_16, slerp_16, cubic_16}},     \
                   {{NULL, quat_step_32, quat_nlerp_32, quat_slerp_32, quat_cubic_32},                                 \
                    {NULL, quat_step_16, quat_nlerp_16, quat_slerp_16, quat_cubic_16}}},                               \
        .blend_layer = {{NULL, blend_step_32, blend_nlerp_32, blend_slerp_32, blend_cubic_32},                         \
                        {NULL, blend_step_16, blend_nlerp_16, blend_slerp_16, blend_cubic_16}},                        \
        .settle = {settle_32, settle_16},                                                                              \
        .add_layer = {{NULL, add_step_32, add_nlerp_32, add_slerp_32, add_cubic_32},                                   \
                      {NULL, add_step_16, add_nlerp_16, add_slerp_16, add_cubic_16}},                                  \
        .compose = {compose_matrices, compose_quats}, .resolve = {resolve_ops, resolve_quats},                         \
        .write = {{write_f32, stream_f32}, {write_quat, stream_quat}, {write_quat16, stream_quat16}},                  \
        .fill = {fill_cached, fill_streamed}, .read = read_lines, .multiply_add = multiply_add,                        \
        .stream = stream_lines, .fence = fence_stores,                                                                 \
    }
