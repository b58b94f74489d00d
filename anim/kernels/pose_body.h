/* The algorithm of pose.h, written once over a vector of WIDTH floats. Each pose_<isa>.c includes a wide_<isa>.h, which
 * defines that vector and where as many lanes have their keys and palettes, and then this file. */

/* What is called from several places. Left alone, gcc -O2 makes it functions of their own, or copies vectors in the
 * memory between, and AVX2 or SSE4 takes a quarter longer. */
#define KEPT_INLINE static inline __attribute__((always_inline))

typedef struct wide34 {
    wf m[12];
} wide34;

/* Rotation matrix of a quaternion of any length: normalising takes 2 / dot(q, q) and no square root. */
KEPT_INLINE void linear_from_quat(const wf q[4], wide34 *d)
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

/* D of a step. Returns the position of the next step's keys. */
KEPT_INLINE size_t sample(const th_step *step, const lane_group *lanes, size_t key, wide34 *d)
{
    wf k[4];
    if (step->flags & TH_STEP_ROTATION) {
        wf_load_key(lanes, key, k);
        key += TH_KEY_FLOATS;
        linear_from_quat(k, d);
    } else {
#pragma GCC unroll 12
        for (int row = 0; row < 3; row++)
#pragma GCC unroll 12
            for (int col = 0; col < 3; col++)
                d->m[4 * row + col] = wf_set1(step->local[4 * row + col]);
    }
    if (step->flags & TH_STEP_SCALE) {
        wf_load_key(lanes, key, k);
        key += TH_KEY_FLOATS;
#pragma GCC unroll 12
        for (int row = 0; row < 3; row++)
#pragma GCC unroll 12
            for (int col = 0; col < 3; col++)
                d->m[4 * row + col] = wf_mul(d->m[4 * row + col], k[col]);
    }
    if (step->flags & TH_STEP_TRANSLATION) {
        wf_load_key(lanes, key, k);
        key += TH_KEY_FLOATS;
    } else {
#pragma GCC unroll 12
        for (int row = 0; row < 3; row++)
            k[row] = wf_set1(step->local[4 * row + 3]);
    }
#pragma GCC unroll 12
    for (int row = 0; row < 3; row++) {
        const wf *r = d->m + 4 * row;
        d->m[4 * row + 3] = k[row];
        if (step->flags & TH_STEP_OFFSET)
            d->m[4 * row + 3] =
                wf_madd(r[0], wf_set1(step->offset[0]),
                        wf_madd(r[1], wf_set1(step->offset[1]), wf_madd(r[2], wf_set1(step->offset[2]), k[row])));
    }
    return key;
}

/* One row of a product. */
KEPT_INLINE void multiply_row(const wf r[4], const wide34 *b, wf out[4])
{
#pragma GCC unroll 12
    for (int col = 0; col < 3; col++)
        out[col] = wf_madd(r[0], b->m[col], wf_madd(r[1], b->m[4 + col], wf_mul(r[2], b->m[8 + col])));
    out[3] = wf_madd(r[0], b->m[3], wf_madd(r[1], b->m[7], wf_madd(r[2], b->m[11], r[3])));
}

/* M of a step from its parent's, which lies one slot below; a row that is a palette's goes out at once. */
KEPT_INLINE void descend(const th_step *step, const lane_group *lanes, const wide34 *d, wide34 *slot)
{
    size_t at = (size_t)step->bind * TH_ENTRY;
#pragma GCC unroll 12
    for (int row = 0; row < 12; row += 4) {
        wf m[4];
        if (step->depth > 0) {
            multiply_row(slot[-1].m + row, d, m);
        } else {
#pragma GCC unroll 12
            for (int col = 0; col < 4; col++)
                m[col] = d->m[row + col];
        }
#pragma GCC unroll 12
        for (int col = 0; col < 4; col++)
            slot->m[row + col] = m[col];
        if (step->flags & TH_STEP_DIRECT)
            wf_store_row(lanes, at + (size_t)row, m);
    }
}

/* The binds for which M takes one more product. */
KEPT_INLINE void store_binds(const th_program *program, const th_step *step, const lane_group *lanes, const wide34 *m)
{
    uint32_t bind = step->bind + ((step->flags & TH_STEP_DIRECT) != 0), end = step->bind + step->bind_count;
    for (; bind < end; bind++) {
        wide34 from_m;
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++)
            from_m.m[i] = wf_set1(program->from_m[bind][i]);
#pragma GCC unroll 12
        for (int row = 0; row < 12; row += 4) {
            wf p[4];
            multiply_row(m->m + row, &from_m, p);
            wf_store_row(lanes, (size_t)bind * TH_ENTRY + (size_t)row, p);
        }
    }
}

static inline void run(const th_program *program, const lane_group *lanes, float *scratch)
{
    const th_step *end = program->steps + program->step_count;
    size_t key = 0;
    for (const th_step *step = program->steps; step != end; step++) {
        wide34 d, *slot = (wide34 *)scratch + step->depth;
        key = sample(step, lanes, key, &d);
        descend(step, lanes, &d, slot);
        store_binds(program, step, lanes, slot);
    }
}

static inline void run_sample(const th_program *program, const lane_group *lanes, float *pose)
{
    size_t key = 0;
    for (uint32_t i = 0; i < program->step_count; i++) {
        wide34 d, *out = (wide34 *)pose + i;
        key = sample(&program->steps[i], lanes, key, &d);
#pragma GCC unroll 12
        for (int k = 0; k < 12; k++)
            out->m[k] = d.m[k];
    }
}

static inline void run_resolve(const th_program *program, const lane_group *lanes, const float *pose, float *scratch)
{
    for (uint32_t i = 0; i < program->step_count; i++) {
        const th_step *step = &program->steps[i];
        wide34 *slot = (wide34 *)scratch + step->depth;
        descend(step, lanes, (const wide34 *)pose + i, slot);
        store_binds(program, step, lanes, slot);
    }
}

/* ---- a batch, WIDTH lanes at a time ---- */

static void pose_batch(const th_program *program, const th_lane lanes[TH_LANES], float *palette, size_t stride,
                       float *scratch)
{
    for (size_t first = 0; first < TH_LANES; first += WIDTH) {
        lane_group group = wf_sources(program, lanes + first);
        wf_aim(&group, palette + first * stride, stride);
        run(program, &group, scratch);
    }
}

static void sample_batch(const th_program *program, const th_lane lanes[TH_LANES], float *pose)
{
    for (size_t first = 0; first < TH_LANES; first += WIDTH) {
        const lane_group group = wf_sources(program, lanes + first);
        run_sample(program, &group, pose + first * program->step_count * TH_ENTRY);
    }
}

static void resolve_batch(const th_program *program, const float *pose, float *palette, size_t stride, float *scratch)
{
    for (size_t first = 0; first < TH_LANES; first += WIDTH) {
        lane_group group = {.palette = NULL};
        wf_aim(&group, palette + first * stride, stride);
        run_resolve(program, &group, pose + first * program->step_count * TH_ENTRY, scratch);
    }
}

static void fill(float *palette, size_t count, float value)
{
    size_t whole = count / WIDTH * WIDTH;
    for (size_t i = 0; i < whole; i += WIDTH)
        wf_store(palette + i, wf_set1(value));
    for (size_t i = whole; i < count; i++)
        palette[i] = value;
}
