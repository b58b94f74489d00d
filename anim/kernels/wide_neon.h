/* Four floats, with fused multiply-add: every operation rounds like that of wide_avx2.h, in the same order, so the
 * palettes equal AVX2's to the last bit. All 64-bit ARM processors have these instructions. */
#include "pose.h"

#include <arm_neon.h>

#define WIDTH       4
#define WHOLE_LINES 1 /* a line of each lane takes half of all registers */

typedef float32x4_t wf;
typedef int16x8_t wi;

static inline wf wf_set1(float a)
{
    return vdupq_n_f32(a);
}
static inline wf wf_add(wf a, wf b)
{
    return vaddq_f32(a, b);
}
static inline wf wf_sub(wf a, wf b)
{
    return vsubq_f32(a, b);
}
static inline wf wf_mul(wf a, wf b)
{
    return vmulq_f32(a, b);
}
static inline wf wf_div(wf a, wf b)
{
    return vdivq_f32(a, b);
}
static inline wf wf_sqrt(wf a)
{
    return vsqrtq_f32(a);
}
static inline wf wf_madd(wf a, wf b, wf c)
{
    return vfmaq_f32(c, a, b);
}

/* Not -wf_nmadd, which saves nothing and gives a zero the other sign. */
static inline wf wf_msub(wf a, wf b, wf c)
{
    return vfmaq_f32(vnegq_f32(c), a, b);
}

static inline wf wf_nmadd(wf a, wf b, wf c)
{
    return vfmsq_f32(c, a, b);
}

static inline wf wf_max(wf a, wf b)
{
    return vmaxq_f32(a, b);
}
static inline wf wf_flip(wf a, wf b)
{
    const uint32x4_t sign = vandq_u32(vreinterpretq_u32_f32(b), vdupq_n_u32(UINT32_C(1) << 31));
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a), sign));
}

static inline wf wf_load(const float *in)
{
    return vld1q_f32(in);
}

/* Broadcasts a number of each lane four times: one lane in out[i]. */
static inline void wf_broadcast(const float *values, wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = vdupq_n_f32(values[i]);
}

static inline void wi_broadcast(const uint32_t *values, wi out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = vreinterpretq_s16_u32(vdupq_n_u32(values[i]));
}

/* A key for all lanes, in the shape of keys. */
static inline void wf_repeat(const float key[4], wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = vld1q_f32(key);
}

/* Loads a key of each lane, one lane in out[i]. */
static inline void wf_load_floats(const th_lanes *from, size_t at, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = vld1q_f32((const float *)(const void *)th_lanes_at(from, i, at));
}

static inline void wf_load_shorts(const th_lanes *from, size_t at, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        const int16x4_t shorts = vld1_s16((const int16_t *)(const void *)th_lanes_at(from, i, at));
        out[i] = vcvtq_f32_s32(vmovl_s16(shorts));
    }
}

/* Weights the 16-bit keys of two frames by their shares, in the shape of wf_load_floats: `count` keys that follow each
 * other, 1 or 2. */
static inline void wf_blend_shorts(const th_lanes *from, size_t at, size_t next, const wi shares[4], int count, wf *out)
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        const int16_t *a = (const int16_t *)(const void *)th_lanes_at(from, i, at);
        const int16_t *b = (const int16_t *)(const void *)th_lanes_at(from, i, next);
        const int16x4_t both = vget_low_s16(shares[i]);
#pragma GCC unroll 12
        for (int key = 0; key < count; key++) {
            const int32x4_t first = vmull_lane_s16(vld1_s16(a + 4 * key), both, 0);
            out[4 * key + i] = vcvtq_f32_s32(vmlal_lane_s16(first, vld1_s16(b + 4 * key), both, 1));
        }
    }
}

static inline wf low_halves(wf a, wf b)
{
    return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}

static inline wf high_halves(wf a, wf b)
{
    return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}

/*  r[0] = x0 y0 z0 w0    x0 x1 z0 z1    r[0] = x0 x1 x2 x3
 *  r[1] = x1 y1 z1 w1 -> y0 y1 w0 w1 -> r[1] = y0 y1 y2 y3
 *  r[2] = x2 y2 z2 w2    x2 x3 z2 z3    r[2] = z0 z1 z2 z3
 *  r[3] = x3 y3 z3 w3    y2 y3 w2 w3    r[3] = w0 w1 w2 w3    and back, being its own inverse */
static inline void wf_transpose(wf r[4])
{
    const wf xz01 = vtrn1q_f32(r[0], r[1]), yw01 = vtrn2q_f32(r[0], r[1]);
    const wf xz23 = vtrn1q_f32(r[2], r[3]), yw23 = vtrn2q_f32(r[2], r[3]);
    r[0] = low_halves(xz01, xz23);
    r[1] = low_halves(yw01, yw23);
    r[2] = high_halves(xz01, xz23);
    r[3] = high_halves(yw01, yw23);
}

/* Transposes four numbers of all lanes to four numbers by lane. */
static inline void wf_transpose_lanes(wf r[4])
{
    wf_transpose(r);
}

/* 1 with the sign of a. */
static inline wf wf_sign(wf a)
{
    return vbslq_f32(vdupq_n_u32(1u << 31), a, vdupq_n_f32(1));
}

/* The low 22 bits of `low`; above them ten bits of `high`, from bit `drop` on. */
static inline wf wf_pack(wf low, wf high, int drop)
{
    const uint32x4_t top = vshlq_u32(vreinterpretq_u32_f32(high), vdupq_n_s32(22 - drop));
    return vreinterpretq_f32_u32(vbslq_u32(vdupq_n_u32(0x3fffff), vreinterpretq_u32_f32(low), top));
}

static inline void wf_store(float *out, wf a)
{
    vst1q_f32(out, a);
}

/* An ordinary store. The only non-temporal one, STNP, takes two registers and is just a hint. According to their
 * manuals, Arm's own cores detect consecutive whole lines (write streaming), do not fetch them first, and keep them out
 * of the first caches. Not measured yet. */
static inline void wf_stream(float *out, wf a)
{
    vst1q_f32(out, a);
}

/* Ordinary stores: the caller's hand-over to another thread orders them. */
static inline void wf_fence(void)
{
}
