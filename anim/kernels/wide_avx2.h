/* Eight floats, with fused multiply-add.
 *
 * Lanes are in the order 0..7. A key has four floats, so a register holds the keys of two lanes: lane i in the low half
 * and lane i + 4 in the high half. Keys are interpolated in that shape. A 4x4 transpose inside each half then gives one
 * component of all eight lanes in order. Stores use the inverse transpose. */
#include "pose.h"

#include <immintrin.h>

#define WIDTH 8

typedef __m256 wf;
typedef __m256i wi;

static inline wf wf_set1(float a)
{
    return _mm256_set1_ps(a);
}
static inline wf wf_add(wf a, wf b)
{
    return _mm256_add_ps(a, b);
}
static inline wf wf_sub(wf a, wf b)
{
    return _mm256_sub_ps(a, b);
}
static inline wf wf_mul(wf a, wf b)
{
    return _mm256_mul_ps(a, b);
}
static inline wf wf_div(wf a, wf b)
{
    return _mm256_div_ps(a, b);
}
static inline wf wf_sqrt(wf a)
{
    return _mm256_sqrt_ps(a);
}
static inline wf wf_madd(wf a, wf b, wf c)
{
    return _mm256_fmadd_ps(a, b, c);
}
static inline wf wf_msub(wf a, wf b, wf c)
{
    return _mm256_fmsub_ps(a, b, c);
}

static inline wf wf_nmadd(wf a, wf b, wf c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

static inline wf wf_max(wf a, wf b)
{
    return _mm256_max_ps(a, b);
}
static inline wf wf_flip(wf a, wf b)
{
    return _mm256_xor_ps(a, _mm256_and_ps(b, _mm256_set1_ps(-0.0F)));
}

static inline wf wf_load(const float *in)
{
    return _mm256_load_ps(in);
}

/* Broadcasts a number of each lane four times: lanes i (low half) and i + 4 (high half) in out[i]. */
static inline void wf_broadcast(const float *values, wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = _mm256_set_m128(_mm_set1_ps(values[i + 4]), _mm_set1_ps(values[i]));
}

static inline void wi_broadcast(const uint32_t *values, wi out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = _mm256_set_m128i(_mm_set1_epi32((int)values[i + 4]), _mm_set1_epi32((int)values[i]));
}

/* A key for all lanes, in the shape of keys. */
static inline void wf_repeat(const float key[4], wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = _mm256_broadcast_ps((const __m128 *)(const void *)key);
}

/*  r[0] = x0 y0 z0 w0 | x4 y4 z4 w4          r[0] = x0 x1 x2 x3 | x4 x5 x6 x7
 *  r[1] = x1 y1 z1 w1 | x5 y5 z5 w5    ->    r[1] = y0 y1 y2 y3 | y4 y5 y6 y7
 *  r[2] = x2 y2 z2 w2 | x6 y6 z6 w6          r[2] = z0 z1 z2 z3 | z4 z5 z6 z7
 *  r[3] = x3 y3 z3 w3 | x7 y7 z7 w7          r[3] = w0 w1 w2 w3 | w4 w5 w6 w7      and back, being its own inverse */
static inline void wf_transpose(wf r[4])
{
    wf xy01 = _mm256_unpacklo_ps(r[0], r[1]), zw01 = _mm256_unpackhi_ps(r[0], r[1]);
    wf xy23 = _mm256_unpacklo_ps(r[2], r[3]), zw23 = _mm256_unpackhi_ps(r[2], r[3]);
    r[0] = _mm256_shuffle_ps(xy01, xy23, _MM_SHUFFLE(1, 0, 1, 0));
    r[1] = _mm256_shuffle_ps(xy01, xy23, _MM_SHUFFLE(3, 2, 3, 2));
    r[2] = _mm256_shuffle_ps(zw01, zw23, _MM_SHUFFLE(1, 0, 1, 0));
    r[3] = _mm256_shuffle_ps(zw01, zw23, _MM_SHUFFLE(3, 2, 3, 2));
}

/* Loads a key of each lane: lanes i and i + 4 in out[i]. */
static inline void wf_load_floats(const th_lanes *from, size_t at, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        const float *low = (const float *)(th_lanes_at(from, i, at)),
                    *high = (const float *)(th_lanes_at(from, i + 4, at));
        out[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(low)), _mm_load_ps(high), 1);
    }
}

static inline __m128i load_shorts(const char *low, const char *high)
{
    const __m128d one = _mm_load_sd((const double *)(const void *)low);
    return _mm_castpd_si128(_mm_loadh_pd(one, (const double *)(const void *)high));
}

static inline void wf_load_shorts(const th_lanes *from, size_t at, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = _mm256_cvtepi32_ps(
            _mm256_cvtepi16_epi32(load_shorts(th_lanes_at(from, i, at), th_lanes_at(from, i + 4, at))));
}

/* One or two keys each of two lanes. */
static inline __m256i load_keys(const th_lanes *from, int lane, size_t at, int count)
{
    const __m128i *low = (const __m128i *)(const void *)th_lanes_at(from, lane, at);
    const __m128i *high = (const __m128i *)(const void *)th_lanes_at(from, lane + 4, at);
    return count == 2 ? _mm256_set_m128i(_mm_loadu_si128(high), _mm_loadu_si128(low))
                      : _mm256_set_m128i(_mm_loadl_epi64(high), _mm_loadl_epi64(low));
}

/* Weights the 16-bit keys of two frames by their shares, in the shape of wf_load_floats: `count` keys that follow each
 * other, 1 or 2. Numbers of both frames alternate, so that one instruction multiplies and adds them. */
static inline void wf_blend_shorts(const th_lanes *from, size_t at, size_t next, const wi shares[4], int count, wf *out)
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        const __m256i a = load_keys(from, i, at, count), b = load_keys(from, i, next, count);
        out[i] = _mm256_cvtepi32_ps(_mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), shares[i]));
        if (count == 2)
            out[4 + i] = _mm256_cvtepi32_ps(_mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), shares[i]));
    }
}

/* Transposes eight numbers of all lanes to eight numbers by lane. */
static inline void wf_transpose_lanes(wf r[8])
{
    wf_transpose(r);
    wf_transpose(r + 4);
    for (int i = 0; i < 4; i++) {
        const wf low = r[i], high = r[i + 4];
        r[i] = _mm256_permute2f128_ps(low, high, 0x20);
        r[i + 4] = _mm256_permute2f128_ps(low, high, 0x31);
    }
}

/* 1 with the sign of a. */
static inline wf wf_sign(wf a)
{
    return _mm256_or_ps(_mm256_and_ps(a, _mm256_set1_ps(-0.0F)), _mm256_set1_ps(1));
}

/* The low 22 bits of `low`; above them ten bits of `high`, from bit `drop` on. */
static inline wf wf_pack(wf low, wf high, int drop)
{
    const __m256i bottom = _mm256_and_si256(_mm256_castps_si256(low), _mm256_set1_epi32(0x3fffff));
    const __m256i top = _mm256_slli_epi32(_mm256_castps_si256(high), 22 - drop);
    return _mm256_castsi256_ps(_mm256_or_si256(bottom, _mm256_and_si256(top, _mm256_set1_epi32(~0x3fffff))));
}

static inline void wf_store(float *out, wf a)
{
    _mm256_store_ps(out, a);
}

static inline void wf_stream(float *out, wf a)
{
    _mm256_stream_ps(out, a);
}

static inline void wf_fence(void)
{
    _mm_sfence();
}
