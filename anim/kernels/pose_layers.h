/* Blending layers (pose.h), between sampling and resolving. Part of pose_body.h.
 *
 * Sums start as a product plus 0, so that none of them is -0. What a layer of weight 0 adds, 0 or -0, then changes no
 * bit, and a lane does not depend on how many layers its neighbours have. */

typedef struct wide_sum {
    wf n[TH_ENTRY], total;
} wide_sum;

/* Where keys of an op lie in its sum. */
enum { SUM_ROTATION = 0, SUM_SCALE = 4, SUM_TRANSLATION = 8 };

ALWAYS_INLINE wf dot4(const wf a[4], const wf b[4])
{
    return wf_madd(a[0], b[0], wf_madd(a[1], b[1], wf_madd(a[2], b[2], wf_mul(a[3], b[3]))));
}

/* The weights of a layer by op of a block. */
ALWAYS_INLINE void layer_weights(const th_lane_layer *layer, uint32_t first, uint32_t count, wf out[TH_BLOCK])
{
    const wf weight = wf_load(layer->weight);
    for (uint32_t i = 0; i < TH_BLOCK; i++)
        out[i] = weight;
    for (uint32_t i = 0; layer->is_masked && i < count; i += 4) {
        wf masks[4];
        wf_load_floats(&layer->masks, (first + i) * sizeof(float), masks);
        wf_transpose(masks);
#pragma GCC unroll 12
        for (uint32_t k = 0; k < 4; k++)
            out[i + k] = wf_mul(weight, masks[k]);
    }
}

/* sum: of `width` numbers. */
ALWAYS_INLINE void blend_numbers(bool is_first, wf weight, const wf *numbers, int width, wf *sum)
{
#pragma GCC unroll 12
    for (int i = 0; i < width; i++)
        sum[i] = wf_madd(weight, numbers[i], is_first ? wf_set1(0) : sum[i]);
}

ALWAYS_INLINE void blend_rotation(bool is_first, bool near, wf weight, wf q[4], wf *sum)
{
    wf factor = wf_mul(weight, unit_factor(near, q));
    if (!is_first)
        factor = wf_flip(factor, dot4(q, sum));
    blend_numbers(is_first, factor, q, 4, sum);
}

/* Blends all keys of an op that are no weights. flags: as for compose. */
ALWAYS_INLINE void blend_op(const th_program *program, const th_joint_op *op, unsigned flags, bool near,
                            const th_lanes *from, const blend *by, sample_mode w, bool is_first, wf weight, wf *sum)
{
    size_t key = op->key;
    wf k[4];
    if (flags & TH_JOINT_OP_ROTATION) {
        interpolate(program, from, by, w, key, true, k);
        key += th_keys_bytes(w.keys);
        blend_rotation(is_first, near, weight, k, sum + SUM_ROTATION);
    }
    if (flags & TH_JOINT_OP_SCALE) {
        interpolate(program, from, by, w, key, false, k);
        key += th_keys_bytes(w.keys);
        blend_numbers(is_first, weight, k, 3, sum + SUM_SCALE);
    }
    if (flags & TH_JOINT_OP_TRANSLATION) {
        interpolate(program, from, by, w, key, false, k);
        blend_numbers(is_first, weight, k, 3, sum + SUM_TRANSLATION);
    }
}

/* Twelve morph weights, which no mask affects. */
ALWAYS_INLINE void blend_weights(const th_program *program, const th_joint_op *op, const th_lanes *from,
                                 const blend *by, sample_mode w, bool is_first, wf weight, wf *sum)
{
    for (int i = 0; i < TH_ENTRY; i += TH_KEY) {
        wf k[4];
        interpolate(program, from, by, w, op->key + (size_t)i / TH_KEY * th_keys_bytes(w.keys), false, k);
        blend_numbers(is_first, weight, k, TH_KEY, sum + i);
    }
}

/* Whether an op has keys beside a rotation, or its rotations lie far apart: all others are nearly all. */
ALWAYS_INLINE bool is_plain(const th_joint_op *op)
{
    return op->is_near && !(op->flags & (TH_JOINT_OP_SCALE | TH_JOINT_OP_TRANSLATION));
}

ALWAYS_INLINE void blend_ops(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,
                             sample_mode w, bool is_first, wide_sum *sum)
{
    const th_lanes from = layer->keys; /* a copy, which no store to a sum can alias */
    const blend by = blend_of(&from, w.mode);
    const th_joint_op *op = program->ops + first;
    wf weights[TH_BLOCK];
    layer_weights(layer, first, count, weights);
    for (uint32_t i = 0; i < count; i++, op++, sum++) {
#ifdef PAIRS
        if (w.keys == TH_KEYS_32 && w.mode == TH_INTERPOLATION_NLERP && count - i > 1 && is_plain(op) &&
            is_plain(op + 1)) {
            wf k[8];
            interpolate_pair(program, &from, &by, op->key, k);
            blend_rotation(is_first, true, weights[i], k, sum->n);
            sum->total = wf_add(is_first ? wf_set1(0) : sum->total, weights[i]);
            i++, op++, sum++;
            blend_rotation(is_first, true, weights[i], k + 4, sum->n);
            sum->total = wf_add(is_first ? wf_set1(0) : sum->total, weights[i]);
            continue;
        }
#endif
        wf weight = weights[i];
        if (__builtin_expect(is_plain(op), 1)) {
            blend_op(program, op, TH_JOINT_OP_ROTATION, true, &from, &by, w, is_first, weight, sum->n);
        } else if (op->flags & TH_JOINT_OP_WEIGHTS) {
            weight = wf_load(layer->weight);
            blend_weights(program, op, &from, &by, w, is_first, weight, sum->n);
        } else {
            blend_op(program, op, op->flags, op->is_near, &from, &by, w, is_first, weight, sum->n);
        }
        sum->total = wf_add(is_first ? wf_set1(0) : sum->total, weight);
    }
}

/* ---- the rest pose ---- */

ALWAYS_INLINE void fill_op(const th_program *program, const th_joint_op *op, const th_lanes *rest, sample_mode w,
                           wide_sum *sum)
{
    const wf weight = wf_max(wf_sub(wf_set1(TH_REST_WEIGHT), sum->total), wf_set1(0));
    if (op->flags & TH_JOINT_OP_WEIGHTS)
        blend_weights(program, op, rest, NULL, w, false, weight, sum->n);
    else
        blend_op(program, op, op->flags, true, rest, NULL, w, false, weight, sum->n);
    sum->total = wf_add(sum->total, weight);
}

ALWAYS_INLINE void settle_op(const th_joint_op *op, wide_sum *sum)
{
    const bool weights = op->flags & TH_JOINT_OP_WEIGHTS;
    if (!weights && !(op->flags & (TH_JOINT_OP_SCALE | TH_JOINT_OP_TRANSLATION)))
        return;
    const wf k = wf_div(wf_set1(1), sum->total);
#pragma GCC unroll 12
    for (int i = 0; i < TH_ENTRY; i++)
        if (weights || (i >= SUM_SCALE && i % 4 < 3 &&
                        (op->flags & (i < SUM_TRANSLATION ? TH_JOINT_OP_SCALE : TH_JOINT_OP_TRANSLATION))))
            sum->n[i] = wf_mul(sum->n[i], k);
}

ALWAYS_INLINE void settle_ops(const th_program *program, uint32_t first, uint32_t count, const th_lanes *rest,
                              th_keys keys, wide_sum *sum)
{
    const th_joint_op *op = program->ops + first, *end = op + count;
    for (; op != end; op++, sum++) {
        if (rest)
            fill_op(program, op, rest, (sample_mode){keys, TH_INTERPOLATION_STEP}, sum);
        settle_op(op, sum);
    }
}

/* ---- layers that add ---- */

/* k: the rotation key now, start: that of the start. */
ALWAYS_INLINE void add_rotation(bool near, wf weight, wf k[4], const wf start[4], wf *sum)
{
    const wf zero = wf_set1(0), factor = wf_mul(weight, unit_factor(near, k));
    const wf back[4] = {wf_sub(zero, start[0]), wf_sub(zero, start[1]), wf_sub(zero, start[2]), start[3]};
    wf d[4], turned[4];
    multiply_quats(k, back, d);
    const wf signed_factor = wf_flip(factor, d[3]);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        d[i] = wf_mul(d[i], signed_factor);
    d[3] = wf_add(d[3], wf_sub(wf_set1(1), weight));
    multiply_quats(d, sum, turned);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        sum[i] = turned[i];
}

ALWAYS_INLINE void add_numbers(wf weight, const wf *k, const wf *start, int width, wf *sum)
{
#pragma GCC unroll 12
    for (int i = 0; i < width; i++)
        sum[i] = wf_madd(weight, wf_sub(k[i], start[i]), sum[i]);
}

ALWAYS_INLINE void multiply_scale(wf weight, const wf *k, const wf *start, wf *sum)
{
    const wf one = wf_set1(1);
#pragma GCC unroll 12
    for (int i = 0; i < 3; i++)
        sum[i] = wf_mul(sum[i], wf_madd(weight, wf_sub(wf_div(k[i], start[i]), one), one));
}

ALWAYS_INLINE void add_op(const th_program *program, const th_joint_op *op, unsigned flags, bool near,
                          const th_lane_layer *layer, const blend *by, sample_mode w, wf weight, wf *sum)
{
    const sample_mode still = {w.keys, TH_INTERPOLATION_STEP};
    size_t key = op->key;
    wf k[4], start[4];
    if (flags & TH_JOINT_OP_ROTATION) {
        interpolate(program, &layer->keys, by, w, key, true, k);
        interpolate(program, &layer->start, NULL, still, key, true, start);
        key += th_keys_bytes(w.keys);
        add_rotation(near, weight, k, start, sum + SUM_ROTATION);
    }
    if (flags & TH_JOINT_OP_SCALE) {
        interpolate(program, &layer->keys, by, w, key, false, k);
        interpolate(program, &layer->start, NULL, still, key, false, start);
        key += th_keys_bytes(w.keys);
        multiply_scale(weight, k, start, sum + SUM_SCALE);
    }
    if (flags & TH_JOINT_OP_TRANSLATION) {
        interpolate(program, &layer->keys, by, w, key, false, k);
        interpolate(program, &layer->start, NULL, still, key, false, start);
        add_numbers(weight, k, start, 3, sum + SUM_TRANSLATION);
    }
}

ALWAYS_INLINE void add_weights(const th_program *program, const th_joint_op *op, const th_lane_layer *layer,
                               const blend *by, sample_mode w, wf *sum)
{
    for (int i = 0; i < TH_ENTRY; i += TH_KEY) {
        const size_t key = op->key + (size_t)i / TH_KEY * th_keys_bytes(w.keys);
        wf k[4], start[4];
        interpolate(program, &layer->keys, by, w, key, false, k);
        interpolate(program, &layer->start, NULL, (sample_mode){w.keys, TH_INTERPOLATION_STEP}, key, false, start);
        add_numbers(wf_load(layer->weight), k, start, TH_KEY, sum + i);
    }
}

ALWAYS_INLINE void add_ops(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,
                           sample_mode w, wide_sum *sum)
{
    const blend by = blend_of(&layer->keys, w.mode);
    const th_joint_op *op = program->ops + first;
    wf weights[TH_BLOCK];
    layer_weights(layer, first, count, weights);
    for (uint32_t i = 0; i < count; i++, op++, sum++) {
        if (__builtin_expect(is_plain(op), 1))
            add_op(program, op, TH_JOINT_OP_ROTATION, true, layer, &by, w, weights[i], sum->n);
        else if (op->flags & TH_JOINT_OP_WEIGHTS)
            add_weights(program, op, layer, &by, w, sum->n);
        else
            add_op(program, op, op->flags, op->is_near, layer, &by, w, weights[i], sum->n);
    }
}

/* ---- transforms ---- */

static void compose_matrices(const th_program *program, uint32_t first, uint32_t count, const float *sums, float *pose)
{
    const wide_sum *sum = (const wide_sum *)sums;
    const th_joint_op *op = program->ops + first, *end = op + count;
    for (wide34 *out = (wide34 *)pose; op != end; op++, out++, sum++) {
        if (op->flags & TH_JOINT_OP_WEIGHTS)
            copy(out, (const wide34 *)sum->n);
        else
            compose(op, op->flags, sum->n + SUM_ROTATION, sum->n + SUM_SCALE, sum->n + SUM_TRANSLATION, out);
    }
}

static void compose_quats(const th_program *program, uint32_t first, uint32_t count, const float *sums, float *pose)
{
    const wide_sum *sum = (const wide_sum *)sums;
    const th_quat_op *op = program->quat->ops + first, *end = op + count;
    for (wide_quat *out = (wide_quat *)pose; op != end; op++, out++, sum++) {
        wf q[4];
#pragma GCC unroll 12
        for (int i = 0; i < 4; i++)
            q[i] = op->flags & TH_JOINT_OP_ROTATION ? sum->n[i] : wf_set1(op->rotation[i]);
        normalize(!(op->flags & TH_JOINT_OP_ROTATION), q);
#pragma GCC unroll 12
        for (int i = 0; i < 4; i++)
            out->rotation[i] = q[i];
        if (op->flags & TH_JOINT_OP_TRANSLATION)
            move_place(op, sum->n + SUM_TRANSLATION, out);
    }
}

#define LAYERS(name, keys, mode)                                                                                       \
    static void blend_##name(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,    \
                             bool is_first, float *sums)                                                               \
    {                                                                                                                  \
        if (is_first)                                                                                                  \
            blend_ops(program, first, count, layer, (sample_mode){keys, mode}, true, (wide_sum *)sums);                \
        else                                                                                                           \
            blend_ops(program, first, count, layer, (sample_mode){keys, mode}, false, (wide_sum *)sums);               \
    }                                                                                                                  \
    static void add_##name(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,      \
                           float *sums)                                                                                \
    {                                                                                                                  \
        add_ops(program, first, count, layer, (sample_mode){keys, mode}, (wide_sum *)sums);                            \
    }

LAYERS(step_32, TH_KEYS_32, TH_INTERPOLATION_STEP)
LAYERS(nlerp_32, TH_KEYS_32, TH_INTERPOLATION_NLERP)
LAYERS(slerp_32, TH_KEYS_32, TH_INTERPOLATION_SLERP)
LAYERS(fast_slerp_32, TH_KEYS_32, TH_INTERPOLATION_FAST_SLERP)
LAYERS(cubic_32, TH_KEYS_32, TH_INTERPOLATION_CUBIC)
LAYERS(step_16, TH_KEYS_16, TH_INTERPOLATION_STEP)
LAYERS(nlerp_16, TH_KEYS_16, TH_INTERPOLATION_NLERP)
LAYERS(slerp_16, TH_KEYS_16, TH_INTERPOLATION_SLERP)
LAYERS(fast_slerp_16, TH_KEYS_16, TH_INTERPOLATION_FAST_SLERP)
LAYERS(cubic_16, TH_KEYS_16, TH_INTERPOLATION_CUBIC)

#define SETTLE(name, keys)                                                                                             \
    static void name(const th_program *program, uint32_t first, uint32_t count, const th_lanes *rest, float *sums)     \
    {                                                                                                                  \
        settle_ops(program, first, count, rest, keys, (wide_sum *)sums);                                               \
    }

SETTLE(settle_32, TH_KEYS_32)
SETTLE(settle_16, TH_KEYS_16)
