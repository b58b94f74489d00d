/* The algorithm of pose.h, written once over a vector of WIDTH floats. Each pose_<isa>.c includes a wide_<isa>.h, which
 * defines that vector and how lanes find their keys and palettes, and then this file. */

/* What is called from several places. Left alone, gcc -O2 makes it functions of their own, or copies vectors in the
 * memory between, and AVX2 or SSE4 takes a quarter longer. */
#define KEPT_INLINE static inline __attribute__((always_inline))

typedef struct wide34 {
    wf m[12];
} wide34;

/* An assignment may become a call of memcpy. */
KEPT_INLINE void copy(wide34 *to, const wide34 *from)
{
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++)
        to->m[i] = from->m[i];
}

/* ---- sampling ---- */

/* The key at `at`, between a frame and the next. */
KEPT_INLINE void interpolate(const sources *lanes, size_t at, size_t frame_bytes, wf out[4])
{
    wf a[4], b[4];
    wf_load(lanes, at, a);
    wf_load(lanes, at + frame_bytes, b);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = wf_madd(lanes->alpha[i], wf_sub(b[i], a[i]), a[i]);
    wf_transpose(out);
}

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

/* D of a step. flags: the step's, a constant where they are common. */
KEPT_INLINE void sample_step(const th_step *step, unsigned flags, const sources *lanes, size_t frame_bytes, wide34 *out)
{
    size_t key = step->key;
    wide34 d;
    wf k[4];
    if (flags & TH_STEP_ROTATION) {
        interpolate(lanes, key, frame_bytes, k);
        key += TH_KEY_FLOATS * sizeof(float);
        linear_from_quat(k, &d);
    } else {
#pragma GCC unroll 12
        for (int row = 0; row < 3; row++)
#pragma GCC unroll 12
            for (int col = 0; col < 3; col++)
                d.m[4 * row + col] = wf_set1(step->local[4 * row + col]);
    }
    if (flags & TH_STEP_SCALE) {
        interpolate(lanes, key, frame_bytes, k);
        key += TH_KEY_FLOATS * sizeof(float);
#pragma GCC unroll 12
        for (int row = 0; row < 3; row++)
#pragma GCC unroll 12
            for (int col = 0; col < 3; col++)
                d.m[4 * row + col] = wf_mul(d.m[4 * row + col], k[col]);
    }
    if (flags & TH_STEP_TRANSLATION) {
        interpolate(lanes, key, frame_bytes, k);
    } else {
#pragma GCC unroll 12
        for (int row = 0; row < 3; row++)
            k[row] = wf_set1(step->local[4 * row + 3]);
    }
#pragma GCC unroll 12
    for (int row = 0; row < 3; row++) {
        const wf *r = d.m + 4 * row;
        d.m[4 * row + 3] = k[row];
        if (flags & TH_STEP_OFFSET)
            d.m[4 * row + 3] =
                wf_madd(r[0], wf_set1(step->offset[0]),
                        wf_madd(r[1], wf_set1(step->offset[1]), wf_madd(r[2], wf_set1(step->offset[2]), k[row])));
    }
    copy(out, &d);
}

static void sample(const th_program *program, uint32_t first, uint32_t count, const th_lanes *lanes, float *pose)
{
    enum { SAMPLED = TH_STEP_ROTATION | TH_STEP_SCALE | TH_STEP_TRANSLATION | TH_STEP_OFFSET };
    enum { COMMON = TH_STEP_ROTATION | TH_STEP_OFFSET }; /* nearly all joints of a character */
    const sources from = wf_sources(lanes);
    const size_t frame_bytes = program->frame_bytes;
    const th_step *step = program->steps + first, *end = step + count;
    for (wide34 *out = (wide34 *)pose; step != end; step++, out++) {
        if ((step->flags & SAMPLED) == COMMON)
            sample_step(step, COMMON, &from, frame_bytes, out);
        else
            sample_step(step, step->flags, &from, frame_bytes, out);
    }
}

/* ---- resolving ---- */

/* One row of a product. */
KEPT_INLINE void multiply_row(const wf r[4], const wide34 *b, wf out[4])
{
#pragma GCC unroll 12
    for (int col = 0; col < 3; col++)
        out[col] = wf_madd(r[0], b->m[col], wf_madd(r[1], b->m[4 + col], wf_mul(r[2], b->m[8 + col])));
    out[3] = wf_madd(r[0], b->m[3], wf_madd(r[1], b->m[7], wf_madd(r[2], b->m[11], r[3])));
}

KEPT_INLINE void multiply(const wide34 *a, const wide34 *b, wide34 *out)
{
#pragma GCC unroll 12
    for (int row = 0; row < 12; row += 4)
        multiply_row(a->m + row, b, out->m + row);
}

KEPT_INLINE void store_entry(const wide34 *p, th_palette format, uint32_t bind, char *palette, size_t stride)
{
    char *entry = palette + bind * th_palette_entry_bytes(format);
    if (format == TH_PALETTE_F16) {
        wf_store_halves(p->m, entry, stride);
        return;
    }
#pragma GCC unroll 12
    for (size_t row = 0; row < 3; row++)
        wf_store_row(p->m + 4 * row, entry + row * 4 * sizeof(float), stride);
}

/* The binds for which M takes one more product. */
KEPT_INLINE void store_products(const th_program *program, const th_step *step, const wide34 *m, th_palette format,
                                char *palette, size_t stride)
{
    uint32_t bind = step->bind + ((step->flags & TH_STEP_DIRECT) != 0), end = step->bind + step->bind_count;
    for (; bind < end; bind++) {
        wide34 from_m, p;
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++)
            from_m.m[i] = wf_set1(program->from_m[bind][i]);
        multiply(m, &from_m, &p);
        store_entry(&p, format, bind, palette, stride);
    }
}

KEPT_INLINE void resolve(const th_program *program, uint32_t first, uint32_t count, const float *pose,
                         th_palette format, char *palette, size_t stride, float *slots)
{
    const th_step *step = program->steps + first, *end = step + count;
    wide34 m;                       /* of the step before */
    copy(&m, (const wide34 *)pose); /* the first one is not chained */
    for (const wide34 *d = (const wide34 *)pose; step != end; step++, d++) {
        const unsigned flags = step->flags;
        wide34 *slot = (wide34 *)slots + step->depth, product;
        if (step->depth == 0) {
            copy(&m, d);
        } else {
            if (!(flags & TH_STEP_CHAINED))
                copy(&m, slot - 1);
            multiply(&m, d, &product);
            copy(&m, &product);
        }
        if (flags & TH_STEP_DIRECT)
            store_entry(&m, format, step->bind, palette, stride);
        if (flags & TH_STEP_KEPT)
            copy(slot, &m);
        if (__builtin_expect(flags & TH_STEP_PRODUCTS, 0)) {
            const wide34 same = m; /* whose address may be taken: m itself is to stay in registers */
            store_products(program, step, &same, format, palette, stride);
        }
    }
}

static void resolve_f32(const th_program *program, uint32_t first, uint32_t count, const float *pose, char *palette,
                        size_t stride, float *slots)
{
    resolve(program, first, count, pose, TH_PALETTE_F32, palette, stride, slots);
}

static void resolve_f16(const th_program *program, uint32_t first, uint32_t count, const float *pose, char *palette,
                        size_t stride, float *slots)
{
    resolve(program, first, count, pose, TH_PALETTE_F16, palette, stride, slots);
}

/* ---- the floor ---- */

static void fill(float *out, size_t count, float value)
{
    size_t whole = count / WIDTH * WIDTH;
    for (size_t i = 0; i < whole; i += WIDTH)
        wf_store(out + i, wf_set1(value));
    for (size_t i = whole; i < count; i++)
        out[i] = value;
}

#define KERNELS                                                                                                        \
    {                                                                                                                  \
        WIDTH, sample, {resolve_f32, resolve_f16}, fill                                                                \
    }
