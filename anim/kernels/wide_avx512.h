/* Sixteen floats, the same operations as in wide_avx2.h on twice as many lanes: lanes i, i + 4, i + 8 and i + 12 share
 * a register where keys have their shape. */
#include "pose.h"

#include <immintrin.h>

#define WIDTH 16

typedef __m512 wf;

static inline wf wf_set1(float a)
{
    return _mm512_set1_ps(a);
}
static inline wf wf_sub(wf a, wf b)
{
    return _mm512_sub_ps(a, b);
}
static inline wf wf_mul(wf a, wf b)
{
    return _mm512_mul_ps(a, b);
}
static inline wf wf_div(wf a, wf b)
{
    return _mm512_div_ps(a, b);
}
static inline wf wf_madd(wf a, wf b, wf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
static inline wf wf_msub(wf a, wf b, wf c)
{
    return _mm512_fmsub_ps(a, b, c);
}

static inline wf wf_nmadd(wf a, wf b, wf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

static inline wf wf_load(const float *in)
{
    return _mm512_load_ps(in);
}

/* A number of each lane, four times: lanes i, i + 4, i + 8 and i + 12 in out[i]. */
static inline void wf_shape(const float *values, wf out[4])
{
    const wf all = _mm512_load_ps(values);
    const __m512i quarters = _mm512_set_epi32(12, 12, 12, 12, 8, 8, 8, 8, 4, 4, 4, 4, 0, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        out[i] = _mm512_permutexvar_ps(_mm512_add_epi32(quarters, _mm512_set1_epi32(i)), all);
}

/* 4x4 in each quarter. */
static inline void wf_transpose(wf r[4])
{
    wf xy01 = _mm512_unpacklo_ps(r[0], r[1]), zw01 = _mm512_unpackhi_ps(r[0], r[1]);
    wf xy23 = _mm512_unpacklo_ps(r[2], r[3]), zw23 = _mm512_unpackhi_ps(r[2], r[3]);
    r[0] = _mm512_shuffle_ps(xy01, xy23, _MM_SHUFFLE(1, 0, 1, 0));
    r[1] = _mm512_shuffle_ps(xy01, xy23, _MM_SHUFFLE(3, 2, 3, 2));
    r[2] = _mm512_shuffle_ps(zw01, zw23, _MM_SHUFFLE(1, 0, 1, 0));
    r[3] = _mm512_shuffle_ps(zw01, zw23, _MM_SHUFFLE(3, 2, 3, 2));
}

static inline __m128 load_quarter(const th_lanes *from, int lane, size_t at)
{
    return _mm_load_ps((const float *)(th_lanes_at(from, lane, at)));
}

/* A key of each lane, four lanes in out[i]. */
static inline void wf_load_floats(const th_lanes *from, size_t at, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        wf quarters = _mm512_castps128_ps512(load_quarter(from, i, at));
        quarters = _mm512_insertf32x4(quarters, load_quarter(from, i + 4, at), 1);
        quarters = _mm512_insertf32x4(quarters, load_quarter(from, i + 8, at), 2);
        out[i] = _mm512_insertf32x4(quarters, load_quarter(from, i + 12, at), 3);
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
    for (int i = 0; i < 4; i++) {
        const __m128i low = load_shorts(th_lanes_at(from, i, at), th_lanes_at(from, i + 4, at));
        const __m128i high = load_shorts(th_lanes_at(from, i + 8, at), th_lanes_at(from, i + 12, at));
        out[i] = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_set_m128i(high, low)));
    }
}

/* Four floats for each lane. */
static inline void wf_store_row(const wf row[4], char *out, size_t stride)
{
    wf r[4] = {row[0], row[1], row[2], row[3]};
    wf_transpose(r);
#pragma GCC unroll 12
    for (size_t i = 0; i < 4; i++) {
        _mm_store_ps((float *)(out + i * stride), _mm512_castps512_ps128(r[i]));
        _mm_store_ps((float *)(out + (i + 4) * stride), _mm512_extractf32x4_ps(r[i], 1));
        _mm_store_ps((float *)(out + (i + 8) * stride), _mm512_extractf32x4_ps(r[i], 2));
        _mm_store_ps((float *)(out + (i + 12) * stride), _mm512_extractf32x4_ps(r[i], 3));
    }
}

static inline __m256i halves(wf a)
{
    return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
}

/* As in wide_avx2.h, lanes 0 to 7 in the low halves, 8 to 15 in the high ones. */
static inline void transpose_halves(const wf m[4], __m256i out[4])
{
    __m256i x = halves(m[0]), y = halves(m[1]), z = halves(m[2]), w = halves(m[3]);
    __m256i xy_low = _mm256_unpacklo_epi16(x, y), xy_high = _mm256_unpackhi_epi16(x, y);
    __m256i zw_low = _mm256_unpacklo_epi16(z, w), zw_high = _mm256_unpackhi_epi16(z, w);
    out[0] = _mm256_unpacklo_epi32(xy_low, zw_low);
    out[1] = _mm256_unpackhi_epi32(xy_low, zw_low);
    out[2] = _mm256_unpacklo_epi32(xy_high, zw_high);
    out[3] = _mm256_unpackhi_epi32(xy_high, zw_high);
}

/* Of two lanes. */
static inline void store_pair(__m128i first, __m128i second, __m128i third, char *out, size_t stride)
{
    _mm_storeu_si128((__m128i *)(void *)out, _mm_unpacklo_epi64(first, second));
    _mm_storeu_si128((__m128i *)(void *)(out + stride), _mm_unpackhi_epi64(first, second));
    _mm_storel_epi64((__m128i *)(void *)(out + 16), third);
    _mm_storeh_pd((double *)(void *)(out + stride + 16), _mm_castsi128_pd(third));
}

/* A palette entry for each lane. */
static inline void wf_store_halves(const wf m[12], char *out, size_t stride)
{
    __m256i rows[3][4];
    for (int row = 0; row < 3; row++)
        transpose_halves(m + 4 * row, rows[row]);
#pragma GCC unroll 12
    for (size_t i = 0; i < 4; i++) {
        char *low = out + 2 * i * stride, *high = low + 8 * stride;
        store_pair(_mm256_castsi256_si128(rows[0][i]), _mm256_castsi256_si128(rows[1][i]),
                   _mm256_castsi256_si128(rows[2][i]), low, stride);
        store_pair(_mm256_extracti128_si256(rows[0][i], 1), _mm256_extracti128_si256(rows[1][i], 1),
                   _mm256_extracti128_si256(rows[2][i], 1), high, stride);
    }
}

static inline void wf_store(float *out, wf a)
{
    _mm512_store_ps(out, a);
}

static inline void wf_stream(float *out, wf a)
{
    _mm512_stream_ps(out, a);
}

static inline void wf_fence(void)
{
    _mm_sfence();
}
