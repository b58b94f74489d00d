/* Four floats, without fused multiply-add: every operation is that of wide_scalar.h, in the same order, so the palettes
 * equal the scalar kernel's to the last bit. */
#include "pose.h"

#include <smmintrin.h>

#define WIDTH 4

typedef __m128 wf;
typedef __m128i wi;

static inline wf wf_set1(float a)
{
    return _mm_set1_ps(a);
}
static inline wf wf_add(wf a, wf b)
{
    return _mm_add_ps(a, b);
}
static inline wf wf_sub(wf a, wf b)
{
    return _mm_sub_ps(a, b);
}
static inline wf wf_mul(wf a, wf b)
{
    return _mm_mul_ps(a, b);
}
static inline wf wf_div(wf a, wf b)
{
    return _mm_div_ps(a, b);
}
static inline wf wf_sqrt(wf a)
{
    return _mm_sqrt_ps(a);
}
static inline wf wf_madd(wf a, wf b, wf c)
{
    return _mm_add_ps(_mm_mul_ps(a, b), c);
}
static inline wf wf_msub(wf a, wf b, wf c)
{
    return _mm_sub_ps(_mm_mul_ps(a, b), c);
}

static inline wf wf_nmadd(wf a, wf b, wf c)
{
    return _mm_sub_ps(c, _mm_mul_ps(a, b));
}

static inline wf wf_max(wf a, wf b)
{
    return _mm_max_ps(a, b);
}
static inline wf wf_flip(wf a, wf b)
{
    return _mm_xor_ps(a, _mm_and_ps(b, _mm_set1_ps(-0.0F)));
}

static inline wf wf_load(const float *in)
{
    return _mm_load_ps(in);
}

/* Broadcasts a number of each lane four times: one lane in out[i]. */
static inline void wf_broadcast(const float *values, wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = _mm_set1_ps(values[i]);
}

static inline void wi_broadcast(const uint32_t *values, wi out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = _mm_set1_epi32((int)values[i]);
}

/* A key for all lanes, in the shape of keys. */
static inline void wf_repeat(const float key[4], wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = _mm_loadu_ps(key);
}

/* Loads a key of each lane, one lane in out[i]. */
static inline void wf_load_floats(const th_lanes *from, size_t at, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = _mm_load_ps((const float *)(th_lanes_at(from, i, at)));
}

static inline void wf_load_shorts(const th_lanes *from, size_t at, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = _mm_cvtepi32_ps(
            _mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(th_lanes_at(from, i, at)))));
}

/* One or two keys of a lane. */
static inline __m128i load_keys(const th_lanes *from, int lane, size_t at, int count)
{
    const __m128i *keys = (const __m128i *)(const void *)th_lanes_at(from, lane, at);
    return count == 2 ? _mm_loadu_si128(keys) : _mm_loadl_epi64(keys);
}

/* Weights the 16-bit keys of two frames by their shares, in the shape of wf_load_floats: `count` keys that follow each
 * other, 1 or 2. Numbers of both frames alternate, so that one instruction multiplies and adds them. */
static inline void wf_blend_shorts(const th_lanes *from, size_t at, size_t next, const wi shares[4], int count, wf *out)
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        const __m128i a = load_keys(from, i, at, count), b = load_keys(from, i, next, count);
        out[i] = _mm_cvtepi32_ps(_mm_madd_epi16(_mm_unpacklo_epi16(a, b), shares[i]));
        if (count == 2)
            out[4 + i] = _mm_cvtepi32_ps(_mm_madd_epi16(_mm_unpackhi_epi16(a, b), shares[i]));
    }
}

/* 4x4 transpose: x y z w of each lane to one component of four lanes, and back. */
static inline void wf_transpose(wf r[4])
{
    _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
}

/* Transposes four numbers of all lanes to four numbers by lane. */
static inline void wf_transpose_lanes(wf r[4])
{
    wf_transpose(r);
}

/* 1 with the sign of a. */
static inline wf wf_sign(wf a)
{
    return _mm_or_ps(_mm_and_ps(a, _mm_set1_ps(-0.0F)), _mm_set1_ps(1));
}

/* The low 22 bits of `low`; above them ten bits of `high`, from bit `drop` on. */
static inline wf wf_pack(wf low, wf high, int drop)
{
    const __m128i bottom = _mm_and_si128(_mm_castps_si128(low), _mm_set1_epi32(0x3fffff));
    const __m128i top = _mm_slli_epi32(_mm_castps_si128(high), 22 - drop);
    return _mm_castsi128_ps(_mm_or_si128(bottom, _mm_and_si128(top, _mm_set1_epi32(~0x3fffff))));
}

static inline void wf_store(float *out, wf a)
{
    _mm_store_ps(out, a);
}

static inline void wf_stream(float *out, wf a)
{
    _mm_stream_ps(out, a);
}

static inline void wf_fence(void)
{
    _mm_sfence();
}
