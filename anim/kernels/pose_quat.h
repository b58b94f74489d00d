/* Sampling and resolving in the quaternion form (pose.h). Part of pose_body.h. */

typedef struct wide_quat {
    wf rotation[4], place[3], scale;
} wide_quat;

/* What makes the length of q 1. near: the length is about 1, and 1 / sqrt(d) about 1 - (d - 1) / 2 + 3 (d - 1)^2 / 8.
 * That takes a twentieth of the time of the whole kernel less. */
ALWAYS_INLINE wf unit_factor(bool near, const wf q[4])
{
    const wf dot = wf_madd(q[0], q[0], wf_madd(q[1], q[1], wf_madd(q[2], q[2], wf_mul(q[3], q[3]))));
    return near
               ? wf_madd(wf_madd(wf_set1(TH_UNIT_SQUARE), dot, wf_set1(TH_UNIT_LINEAR)), dot, wf_set1(TH_UNIT_CONSTANT))
               : wf_div(wf_set1(1), wf_sqrt(dot));
}

ALWAYS_INLINE void normalize(bool near, wf q[4])
{
    const wf k = unit_factor(near, q);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        q[i] = wf_mul(q[i], k);
}

/* a * b: the rotation b, then a. */
ALWAYS_INLINE void multiply_quats(const wf a[4], const wf b[4], wf out[4])
{
    const wf x = a[0], y = a[1], z = a[2], w = a[3];
    out[0] = wf_madd(w, b[0], wf_madd(x, b[3], wf_msub(y, b[2], wf_mul(z, b[1]))));
    out[1] = wf_madd(w, b[1], wf_madd(y, b[3], wf_msub(z, b[0], wf_mul(x, b[2]))));
    out[2] = wf_madd(w, b[2], wf_madd(z, b[3], wf_msub(x, b[1], wf_mul(y, b[0]))));
    out[3] = wf_nmadd(x, b[0], wf_nmadd(y, b[1], wf_nmadd(z, b[2], wf_mul(w, b[3]))));
}

/* p + rotate(q, v), with t = q.xyz x 2v:  p + v + w t + q.xyz x t. */
ALWAYS_INLINE void add_rotated(const wf p[3], const wf q[4], const wf v[3], wf out[3])
{
    const wf x = q[0], y = q[1], z = q[2], w = q[3];
    const wf u[3] = {wf_add(v[0], v[0]), wf_add(v[1], v[1]), wf_add(v[2], v[2])};
    const wf t[3] = {wf_msub(y, u[2], wf_mul(z, u[1])), wf_msub(z, u[0], wf_mul(x, u[2])),
                     wf_msub(x, u[1], wf_mul(y, u[0]))};
    out[0] = wf_madd(w, t[0], wf_madd(y, t[2], wf_nmadd(z, t[1], wf_add(p[0], v[0]))));
    out[1] = wf_madd(w, t[1], wf_madd(z, t[0], wf_nmadd(x, t[2], wf_add(p[1], v[1]))));
    out[2] = wf_madd(w, t[2], wf_madd(x, t[1], wf_nmadd(y, t[0], wf_add(p[2], v[2]))));
}

ALWAYS_INLINE void broadcast(const float *numbers, int count, wf *out)
{
#pragma GCC unroll 12
    for (int i = 0; i < count; i++)
        out[i] = wf_set1(numbers[i]);
}

/* ---- sampling ---- */

ALWAYS_INLINE void move_place(const th_quat_op *op, const wf translation[3], wide_quat *out)
{
#pragma GCC unroll 12
    for (int i = 0; i < 3; i++)
        out->place[i] = wf_madd(wf_set1(op->parent_scale), translation[i], wf_set1(op->step[i]));
}

/* Computes what an op's form holds. rotation: of any length. */
ALWAYS_INLINE void compose_quat(const th_quat_op *op, const wf rotation[4], const wf translation[3], wide_quat *out)
{
    wf q[4];
    if (op->flags & TH_JOINT_OP_ROTATION) {
#pragma GCC unroll 12
        for (int i = 0; i < 4; i++)
            q[i] = rotation[i];
        normalize(false, q);
    } else {
        broadcast(op->rotation, 4, q);
    }
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out->rotation[i] = q[i];
    if (op->flags & TH_JOINT_OP_TRANSLATION)
        move_place(op, translation, out);
}

/* flags: those of the op, a constant for common values. */
ALWAYS_INLINE void sample_quat(const th_program *program, const th_quat_op *op, unsigned flags, const th_lanes *from,
                               const blend *by, sample_mode w, wide_quat *out)
{
    wf k[4];
    if (flags & TH_JOINT_OP_ROTATION) {
        interpolate(program, from, by, w, op->key, true, k);
        normalize(flags & TH_JOINT_OP_NEAR, k);
    } else {
        broadcast(op->rotation, 4, k);
    }
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out->rotation[i] = k[i];
    if (!(flags & TH_JOINT_OP_TRANSLATION))
        return;
    interpolate(program, from, by, w, op->translation_key, false, k);
    move_place(op, k, out);
}

/* As sample_op_pair. */
ALWAYS_INLINE void sample_quat_pair(const th_program *program, const th_quat_op *op, const th_lanes *from,
                                    const blend *by, sample_mode w, wide_quat *out)
{
    wf k[8];
    interpolate_pair(program, from, by, w, op->key, k);
#pragma GCC unroll 12
    for (int i = 0; i < 8; i += 4) {
        normalize(true, k + i);
#pragma GCC unroll 12
        for (int c = 0; c < 4; c++)
            out[i / 4].rotation[c] = k[i + c];
    }
}

ALWAYS_INLINE void sample_quats(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes,
                                sample_mode w, float *pose)
{
    enum { COMMON = TH_JOINT_OP_ROTATION | TH_JOINT_OP_NEAR };
    const th_lanes from = *lanes; /* a copy, which no store to a pose can alias */
    const blend by = blend_of(lanes, w.mode);
    const th_quat_op *op = program->quat->ops + first, *end = op + count;
    for (wide_quat *out = (wide_quat *)pose; op != end; op++, out++) {
        /* Keys of this form may have those of a scale that is 1 between them. */
        if (in_pairs(w) && end - op > 1 && op->flags == COMMON && op[1].flags == COMMON &&
            op[1].key - op->key == th_keys_bytes(w.keys)) {
            sample_quat_pair(program, op, &from, &by, w, out);
            op++;
            out++;
            continue;
        }
        if (__builtin_expect(op->flags == COMMON, 1))
            sample_quat(program, op, COMMON, &from, &by, w, out);
        else
            sample_quat(program, op, op->flags, &from, &by, w, out);
    }
}

#define SAMPLE_QUATS(name, keys, mode)                                                                                 \
    static void name(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes, float *pose)    \
    {                                                                                                                  \
        sample_quats(program, first, count, lanes, (sample_mode){keys, mode}, pose);                                   \
    }

SAMPLE_QUATS(quat_step_32, TH_KEYS_32, TH_INTERPOLATION_STEP)
SAMPLE_QUATS(quat_nlerp_32, TH_KEYS_32, TH_INTERPOLATION_NLERP)
SAMPLE_QUATS(quat_slerp_32, TH_KEYS_32, TH_INTERPOLATION_SLERP)
SAMPLE_QUATS(quat_cubic_32, TH_KEYS_32, TH_INTERPOLATION_CUBIC)
SAMPLE_QUATS(quat_step_16, TH_KEYS_16, TH_INTERPOLATION_STEP)
SAMPLE_QUATS(quat_nlerp_16, TH_KEYS_16, TH_INTERPOLATION_NLERP)
SAMPLE_QUATS(quat_slerp_16, TH_KEYS_16, TH_INTERPOLATION_SLERP)
SAMPLE_QUATS(quat_cubic_16, TH_KEYS_16, TH_INTERPOLATION_CUBIC)

/* ---- resolving ---- */

/* from: what an op or a product hangs from. step, rotation: relative to that. */
ALWAYS_INLINE void follow(const wide_quat *from, const wf rotation[4], const wf step[3], float scale, wide_quat *out)
{
    wf q[4], p[3], turned[4], moved[3];
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        q[i] = from->rotation[i];
#pragma GCC unroll 12
    for (int i = 0; i < 3; i++)
        p[i] = from->place[i];
    add_rotated(p, q, step, moved);
    multiply_quats(q, rotation, turned);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out->rotation[i] = turned[i];
#pragma GCC unroll 12
    for (int i = 0; i < 3; i++)
        out->place[i] = moved[i];
    out->scale = wf_set1(scale);
}

static __attribute__((noinline)) void follow_products(const th_quat_program *quat, const th_quat_op *op,
                                                      const wide_quat *from, wide_quat *out)
{
    for (uint32_t p = op->product; p < op->product + op->product_count; p++) {
        wf rotation[4], step[3];
        broadcast(quat->products[p].rotation, 4, rotation);
        broadcast(quat->products[p].step, 3, step);
        follow(from, rotation, step, quat->products[p].scale, out + p);
    }
}

static void resolve_quats(const th_program *program, uint32_t first, uint32_t count, const float *pose, float *matrices,
                          const th_prefetch *prefetch)
{
    wide_quat *const all = (wide_quat *)matrices, *m = all + first;
    const wide_quat *d = (const wide_quat *)pose;
    const th_quat_op *op = program->quat->ops + first, *end = op + count;
    (void)prefetch;
    for (; op != end; op++, d++, m++) {
        wf step[3];
        if (op->flags & TH_JOINT_OP_TRANSLATION) {
#pragma GCC unroll 12
            for (int i = 0; i < 3; i++)
                step[i] = d->place[i];
        } else {
            broadcast(op->step, 3, step);
        }
        if (op->parent != TH_NO_PARENT) {
            follow(all + op->parent, d->rotation, step, op->scale, m);
        } else {
#pragma GCC unroll 12
            for (int i = 0; i < 4; i++)
                m->rotation[i] = d->rotation[i];
#pragma GCC unroll 12
            for (int i = 0; i < 3; i++)
                m->place[i] = step[i];
            m->scale = wf_set1(op->scale);
        }
        if (__builtin_expect(op->product_count > 0, 0))
            follow_products(program->quat, op, m, all + program->op_count);
    }
}
