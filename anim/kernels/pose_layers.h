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

/* The weights of a layer by op of a block, or without a mask a single one. Returns the step from op to op. */
ALWAYS_INLINE uint32_t layer_weights(const th_lane_layer *layer, uint32_t first, uint32_t count, wf out[TH_BLOCK])
{
    const wf weight = wf_load(layer->weight);
    out[0] = weight;
    if (!layer->is_masked)
        return 0;
    for (uint32_t i = 0; i < count; i += 4) {
        wf masks[4];
        wf_load_floats(&layer->masks, (first + i) * sizeof(float), masks);
        wf_transpose(masks);
#pragma GCC unroll 12
        for (uint32_t k = 0; k < 4; k++)
            out[i + k] = wf_mul(weight, masks[k]);
    }
    return 1;
}

/* sum: of `width` numbers. */
ALWAYS_INLINE void blend_numbers(bool is_first, wf weight, const wf *numbers, int width, wf *sum)
{
#pragma GCC unroll 12
    for (int i = 0; i < width; i++)
        sum[i] = wf_madd(weight, numbers[i], is_first ? wf_set1(0) : sum[i]);
}

ALWAYS_INLINE void blend_rotation(bool is_first, unsigned flags, wf weight, const wf q[4], wf *sum)
{
    wf factor = wf_mul(weight, unit_factor(flags & TH_JOINT_OP_NEAR, q));
    if (!is_first && !(flags & TH_JOINT_OP_ALIGNED))
        factor = wf_flip(factor, dot4(q, sum));
    blend_numbers(is_first, factor, q, 4, sum);
}

/* A weight in the shape of keys. */
ALWAYS_INLINE void spread_weight(wf weight, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = weight;
    wf_transpose(out);
}

/* The rotation of a steady op has the length 1 and needs no sign, so its sum stays in the shape of keys until the last
 * layer. spread: the weight as well. */
ALWAYS_INLINE void blend_steady(const th_program *program, const th_joint_op *op, const th_lanes *from, const blend *by,
                                sample_mode w, bool is_first, wf weight, const wf spread[4], wide_sum *sum)
{
    wf k[4];
    interpolate_keys(program, from, by, w, op->key, k);
#pragma GCC unroll 12
    for (int i = 0; i < TH_KEY; i++)
        sum->n[i] = wf_madd(spread[i], k[i], is_first ? wf_set1(0) : sum->n[i]);
    sum->total = wf_add(is_first ? wf_set1(0) : sum->total, weight);
}

/* Twelve morph weights, or as much of a rotation, a scale and a translation as there are keys. flags: with traits; a
 * constant for common values. */
ALWAYS_INLINE void blend_op(const th_program *program, const th_joint_op *op, unsigned flags, const th_lanes *from,
                            const blend *by, sample_mode w, bool is_first, wf weight, wide_sum *sum)
{
    size_t key = op->key;
    wf k[4];
    for (int i = 0; (flags & TH_JOINT_OP_WEIGHTS) && i < TH_ENTRY; i += TH_KEY, key += th_keys_bytes(w.keys)) {
        interpolate(program, from, by, w, key, false, k);
        blend_numbers(is_first, weight, k, TH_KEY, sum->n + i);
    }
    if (flags & TH_JOINT_OP_ROTATION) {
        interpolate(program, from, by, w, key, true, k);
        key += th_keys_bytes(w.keys);
        blend_rotation(is_first, flags, weight, k, sum->n + SUM_ROTATION);
    }
    if (flags & TH_JOINT_OP_SCALE) {
        interpolate(program, from, by, w, key, false, k);
        key += th_keys_bytes(w.keys);
        blend_numbers(is_first, weight, k, 3, sum->n + SUM_SCALE);
    }
    if (flags & TH_JOINT_OP_TRANSLATION) {
        interpolate(program, from, by, w, key, false, k);
        blend_numbers(is_first, weight, k, 3, sum->n + SUM_TRANSLATION);
    }
    sum->total = wf_add(is_first ? wf_set1(0) : sum->total, weight);
}

/* How many numbers of a sum are in use. */
ALWAYS_INLINE int sum_size(unsigned flags)
{
    return flags & (TH_JOINT_OP_SCALE | TH_JOINT_OP_TRANSLATION | TH_JOINT_OP_WEIGHTS) ? TH_ENTRY : TH_KEY;
}

ALWAYS_INLINE void load_sum(unsigned flags, bool is_first, const wide_sum *sum, wide_sum *out)
{
#pragma GCC unroll 12
    for (int i = 0; i < TH_ENTRY; i++)
        out->n[i] = is_first || i >= sum_size(flags) ? wf_set1(0) : sum->n[i];
    out->total = is_first ? wf_set1(0) : sum->total;
}

ALWAYS_INLINE void store_sum(unsigned flags, const wide_sum *from, wide_sum *sum)
{
#pragma GCC unroll 12
    for (int i = 0; i < sum_size(flags); i++)
        sum->n[i] = from->n[i];
    sum->total = from->total;
}

/* Nearly all ops have a rotation and no other key, and most of these both traits. The rest of them are done without. */
enum {
    TURN = TH_JOINT_OP_ROTATION,
    PLAIN = TURN | TH_JOINT_OP_NEAR | TH_JOINT_OP_ALIGNED,
    STEADY = PLAIN | TH_JOINT_OP_STEADY
};

ALWAYS_INLINE unsigned blend_flags(const th_joint_op *op)
{
    return (op->flags & (TH_JOINT_OP_MOVES | TH_JOINT_OP_SCALE | TH_JOINT_OP_WEIGHTS)) | op->traits;
}

/* Divides what is not a rotation by the sum of weights. */
ALWAYS_INLINE void settle_op(unsigned flags, wide_sum *sum)
{
    if (!(flags & (TH_JOINT_OP_SCALE | TH_JOINT_OP_TRANSLATION | TH_JOINT_OP_WEIGHTS)))
        return;
    const wf k = wf_div(wf_set1(1), sum->total);
    for (int i = 0; (flags & TH_JOINT_OP_WEIGHTS) && i < TH_ENTRY; i++)
        sum->n[i] = wf_mul(sum->n[i], k);
    for (int i = SUM_SCALE; (flags & TH_JOINT_OP_SCALE) && i < SUM_SCALE + 3; i++)
        sum->n[i] = wf_mul(sum->n[i], k);
    for (int i = SUM_TRANSLATION; (flags & TH_JOINT_OP_TRANSLATION) && i < SUM_TRANSLATION + 3; i++)
        sum->n[i] = wf_mul(sum->n[i], k);
}

/* Computes D of an op from its sum. */
ALWAYS_INLINE void compose_sum(const th_program *program, const th_joint_op *op, unsigned flags, const wide_sum *sum,
                               th_pose_form form, float *pose)
{
    if (form == TH_POSE_QUATS)
        compose_quat(&program->quat->ops[op - program->ops], sum->n + SUM_ROTATION, sum->n + SUM_TRANSLATION,
                     (wide_quat *)pose);
    else if (flags & TH_JOINT_OP_WEIGHTS)
        copy((wide34 *)pose, (const wide34 *)sum->n);
    else if ((flags | STEADY) == STEADY && (op->flags & TH_JOINT_OP_PIVOT))
        compose(op, TH_JOINT_OP_ROTATION | TH_JOINT_OP_PIVOT, sum->n + SUM_ROTATION, sum->n + SUM_SCALE,
                sum->n + SUM_TRANSLATION, (wide34 *)pose);
    else
        compose(op, op->flags, sum->n + SUM_ROTATION, sum->n + SUM_SCALE, sum->n + SUM_TRANSLATION, (wide34 *)pose);
}

/* Call once the last layer is blended. form: a constant. */
ALWAYS_INLINE void finish_op(const th_program *program, const th_joint_op *op, unsigned flags, th_pose_form form,
                             wide_sum *sum, float *pose)
{
    settle_op(flags, sum);
    compose_sum(program, op, flags, sum, form, pose);
}

/* place, form: constants. */
ALWAYS_INLINE void blend_next(const th_program *program, const th_joint_op *op, unsigned flags, const th_lanes *from,
                              const blend *by, sample_mode w, th_layer_place place, th_pose_form form, wf weight,
                              wide_sum *sum, float *pose)
{
    wide_sum next;
    load_sum(flags, place == TH_LAYER_FIRST, sum, &next);
    blend_op(program, op, flags, from, by, w, place == TH_LAYER_FIRST, weight, &next);
    if (place == TH_LAYER_LAST)
        finish_op(program, op, flags, form, &next, pose);
    else
        store_sum(flags, &next, sum);
}

ALWAYS_INLINE void blend_next_steady(const th_program *program, const th_joint_op *op, const th_lanes *from,
                                     const blend *by, sample_mode w, th_layer_place place, th_pose_form form, wf weight,
                                     const wf spread[4], wide_sum *sum, float *pose)
{
    wide_sum next;
    load_sum(STEADY, place == TH_LAYER_FIRST, sum, &next);
    blend_steady(program, op, from, by, w, place == TH_LAYER_FIRST, weight, spread, &next);
    if (place == TH_LAYER_LAST) {
        wf_transpose(next.n + SUM_ROTATION);
        finish_op(program, op, PLAIN, form, &next, pose);
    } else {
        store_sum(STEADY, &next, sum);
    }
}

/* How other ops are blended: a function of its own for each mode, because they are few. It gets no pointer to what the
 * loop over ops keeps in registers. */
typedef void blend_other_fn(const th_program *program, const th_joint_op *op, unsigned flags,
                            const th_lane_layer *layer, th_layer_place place, th_pose_form form, const wf *weight,
                            wide_sum *sum, float *pose);

ALWAYS_INLINE void blend_other(const th_program *program, const th_joint_op *op, unsigned flags,
                               const th_lane_layer *layer, sample_mode w, th_layer_place place, th_pose_form form,
                               wf weight, wide_sum *sum, float *pose)
{
    const blend by = blend_of(&layer->keys, w.mode);
    blend_next(program, op, flags, &layer->keys, &by, w, place, form, weight, sum, pose);
}

ALWAYS_INLINE void blend_ops(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,
                             sample_mode w, th_layer_place place, th_pose_form form, blend_other_fn *other,
                             wide_sum *sum, float *pose)
{
    const th_lanes from = layer->keys; /* a copy, which no store to a sum can alias */
    const blend by = blend_of(&layer->keys, w.mode);
    wf weights[TH_BLOCK];
    const uint32_t step = layer_weights(layer, first, count, weights);
    const th_joint_op *op = program->ops + first;
    const wf *weight = weights;
    wf spread[4];
    spread_weight(*weight, spread);
    for (uint32_t i = 0; i < count; i++, op++, weight += step, sum++, pose += th_pose_floats(form, 1, WIDTH)) {
        const unsigned flags = blend_flags(op);
        if (step > 0 && flags == STEADY)
            spread_weight(*weight, spread);
        if (__builtin_expect(flags == STEADY, 1))
            blend_next_steady(program, op, &from, &by, w, place, form, *weight, spread, sum, pose);
        else if (flags == PLAIN)
            blend_next(program, op, PLAIN, &from, &by, w, place, form, *weight, sum, pose);
        else if ((flags | PLAIN) == PLAIN)
            blend_next(program, op, TURN, &from, &by, w, place, form, *weight, sum, pose);
        else
            other(program, op, flags, layer, place, form, weight, sum, pose);
    }
}

/* ---- the rest pose ---- */

ALWAYS_INLINE void settle_ops(const th_program *program, uint32_t first, uint32_t count, const th_lanes *rest,
                              th_keys keys, wide_sum *sum)
{
    const sample_mode still = {keys, TH_INTERPOLATION_STEP};
    const th_joint_op *op = program->ops + first, *end = op + count;
    for (; op != end; op++, sum++) {
        const unsigned flags = blend_flags(op);
        const wf missing = wf_max(wf_sub(wf_set1(TH_REST_WEIGHT), sum->total), wf_set1(0));
        if (flags == STEADY)
            wf_transpose(sum->n + SUM_ROTATION);
        if (rest)
            blend_op(program, op, flags | TH_JOINT_OP_NEAR, rest, NULL, still, false, missing, sum);
        settle_op(flags, sum);
    }
}

/* ---- layers that add ---- */

/* k: the rotation key now, start: that of the start. */
ALWAYS_INLINE void add_rotation(bool near, wf weight, wf k[4], const wf start[4], wf *sum)
{
    const wf zero = wf_set1(0), factor = wf_mul(weight, unit_factor(near, k));
    const wf back[4] = {wf_sub(zero, start[0]), wf_sub(zero, start[1]), wf_sub(zero, start[2]), start[3]};
    wf d[4], turned[4];
    multiply_quats(back, k, d);
    const wf signed_factor = wf_flip(factor, d[3]);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        d[i] = wf_mul(d[i], signed_factor);
    d[3] = wf_add(d[3], wf_sub(wf_set1(1), weight));
    multiply_quats(sum, d, turned);
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

/* As blend_op. */
ALWAYS_INLINE void add_op(const th_program *program, const th_joint_op *op, unsigned flags, const th_lane_layer *layer,
                          const blend *by, sample_mode w, wf weight, wide_sum *sum)
{
    const sample_mode still = {w.keys, TH_INTERPOLATION_STEP};
    size_t key = op->key;
    wf k[4], start[4];
    for (int i = 0; (flags & TH_JOINT_OP_WEIGHTS) && i < TH_ENTRY; i += TH_KEY, key += th_keys_bytes(w.keys)) {
        interpolate(program, &layer->keys, by, w, key, false, k);
        interpolate(program, &layer->start, NULL, still, key, false, start);
        add_numbers(weight, k, start, TH_KEY, sum->n + i);
    }
    if (flags & TH_JOINT_OP_ROTATION) {
        interpolate(program, &layer->keys, by, w, key, true, k);
        interpolate(program, &layer->start, NULL, still, key, true, start);
        key += th_keys_bytes(w.keys);
        add_rotation(flags & TH_JOINT_OP_NEAR, weight, k, start, sum->n + SUM_ROTATION);
    }
    if (flags & TH_JOINT_OP_SCALE) {
        interpolate(program, &layer->keys, by, w, key, false, k);
        interpolate(program, &layer->start, NULL, still, key, false, start);
        key += th_keys_bytes(w.keys);
        multiply_scale(weight, k, start, sum->n + SUM_SCALE);
    }
    if (flags & TH_JOINT_OP_TRANSLATION) {
        interpolate(program, &layer->keys, by, w, key, false, k);
        interpolate(program, &layer->start, NULL, still, key, false, start);
        add_numbers(weight, k, start, 3, sum->n + SUM_TRANSLATION);
    }
}

typedef void add_other_fn(const th_program *program, const th_joint_op *op, unsigned flags, const th_lane_layer *layer,
                          const wf *weight, wide_sum *sum);

ALWAYS_INLINE void add_other(const th_program *program, const th_joint_op *op, unsigned flags,
                             const th_lane_layer *layer, sample_mode w, wf weight, wide_sum *sum)
{
    const blend by = blend_of(&layer->keys, w.mode);
    add_op(program, op, flags, layer, &by, w, weight, sum);
}

ALWAYS_INLINE void add_ops(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,
                           sample_mode w, add_other_fn *other, wide_sum *sum)
{
    const blend by = blend_of(&layer->keys, w.mode);
    wf weights[TH_BLOCK];
    const uint32_t step = layer_weights(layer, first, count, weights);
    const th_joint_op *op = program->ops + first;
    const wf *weight = weights;
    for (uint32_t i = 0; i < count; i++, op++, weight += step, sum++) {
        const unsigned flags = blend_flags(op);
        if (__builtin_expect((flags & PLAIN) == PLAIN && (flags | STEADY) == STEADY, 1))
            add_op(program, op, PLAIN, layer, &by, w, *weight, sum);
        else
            other(program, op, flags, layer, weight, sum);
    }
}

/* ---- transforms ---- */

static void compose_matrices(const th_program *program, uint32_t first, uint32_t count, const float *sums, float *pose)
{
    const wide_sum *sum = (const wide_sum *)sums;
    const th_joint_op *op = program->ops + first, *end = op + count;
    for (; op != end; op++, sum++, pose += th_pose_floats(TH_POSE_MATRICES, 1, WIDTH))
        compose_sum(program, op, blend_flags(op), sum, TH_POSE_MATRICES, pose);
}

static void compose_quats(const th_program *program, uint32_t first, uint32_t count, const float *sums, float *pose)
{
    const wide_sum *sum = (const wide_sum *)sums;
    const th_joint_op *op = program->ops + first, *end = op + count;
    for (; op != end; op++, sum++, pose += th_pose_floats(TH_POSE_QUATS, 1, WIDTH))
        compose_sum(program, op, blend_flags(op), sum, TH_POSE_QUATS, pose);
}

#define LAYERS(name, keys, mode)                                                                                       \
    static __attribute__((noinline)) void blend_other_##name(                                                          \
        const th_program *program, const th_joint_op *op, unsigned flags, const th_lane_layer *layer,                  \
        th_layer_place place, th_pose_form form, const wf *weight, wide_sum *sum, float *pose)                         \
    {                                                                                                                  \
        blend_other(program, op, flags, layer, (sample_mode){keys, mode}, place, form, *weight, sum, pose);            \
    }                                                                                                                  \
    static void blend_##name(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,    \
                             th_layer_place place, th_pose_form form, float *sums, float *pose)                        \
    {                                                                                                                  \
        const sample_mode w = {keys, mode};                                                                            \
        wide_sum *const all = (wide_sum *)sums;                                                                        \
        blend_other_fn *const other = blend_other_##name;                                                              \
        if (place == TH_LAYER_FIRST)                                                                                   \
            blend_ops(program, first, count, layer, w, TH_LAYER_FIRST, TH_POSE_MATRICES, other, all, pose);            \
        else if (place == TH_LAYER_NEXT)                                                                               \
            blend_ops(program, first, count, layer, w, TH_LAYER_NEXT, TH_POSE_MATRICES, other, all, pose);             \
        else if (form == TH_POSE_MATRICES)                                                                             \
            blend_ops(program, first, count, layer, w, TH_LAYER_LAST, TH_POSE_MATRICES, other, all, pose);             \
        else                                                                                                           \
            blend_ops(program, first, count, layer, w, TH_LAYER_LAST, TH_POSE_QUATS, other, all, pose);                \
    }                                                                                                                  \
    static __attribute__((noinline)) void add_other_##name(const th_program *program, const th_joint_op *op,           \
                                                           unsigned flags, const th_lane_layer *layer,                 \
                                                           const wf *weight, wide_sum *sum)                            \
    {                                                                                                                  \
        add_other(program, op, flags, layer, (sample_mode){keys, mode}, *weight, sum);                                 \
    }                                                                                                                  \
    static void add_##name(const th_program *program, uint32_t first, uint32_t count, const th_lane_layer *layer,      \
                           float *sums)                                                                                \
    {                                                                                                                  \
        add_ops(program, first, count, layer, (sample_mode){keys, mode}, add_other_##name, (wide_sum *)sums);          \
    }

LAYERS(step_32, TH_KEYS_32, TH_INTERPOLATION_STEP)
LAYERS(nlerp_32, TH_KEYS_32, TH_INTERPOLATION_NLERP)
LAYERS(slerp_32, TH_KEYS_32, TH_INTERPOLATION_SLERP)
LAYERS(cubic_32, TH_KEYS_32, TH_INTERPOLATION_CUBIC)
LAYERS(step_16, TH_KEYS_16, TH_INTERPOLATION_STEP)
LAYERS(nlerp_16, TH_KEYS_16, TH_INTERPOLATION_NLERP)
LAYERS(slerp_16, TH_KEYS_16, TH_INTERPOLATION_SLERP)
LAYERS(cubic_16, TH_KEYS_16, TH_INTERPOLATION_CUBIC)

#define SETTLE(name, keys)                                                                                             \
    static void name(const th_program *program, uint32_t first, uint32_t count, const th_lanes *rest, float *sums)     \
    {                                                                                                                  \
        settle_ops(program, first, count, rest, keys, (wide_sum *)sums);                                               \
    }

SETTLE(settle_32, TH_KEYS_32)
SETTLE(settle_16, TH_KEYS_16)
