/* Sixteen floats, with the operations of wide_avx2.h on twice as many lanes. In the shape of keys, lanes i, i + 4, i +
 * 8 and i + 12 share a register. */
#include "pose.h"

#include <immintrin.h>

#define WIDTH 16

typedef __m512 wf;
typedef __m512i wi;

static inline wf wf_set1(float a)
{
    return _mm512_set1_ps(a);
}
static inline wf wf_add(wf a, wf b)
{
    return _mm512_add_ps(a, b);
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
static inline wf wf_sqrt(wf a)
{
    return _mm512_sqrt_ps(a);
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

static inline wf wf_max(wf a, wf b)
{
    return _mm512_max_ps(a, b);
}
static inline wf wf_flip(wf a, wf b)
{
    const __m512i sign = _mm512_and_epi32(_mm512_castps_si512(b), _mm512_set1_epi32(INT32_MIN));
    return _mm512_castsi512_ps(_mm512_xor_epi32(_mm512_castps_si512(a), sign));
}

static inline wf wf_load(const float *in)
{
    return _mm512_load_ps(in);
}

/* Broadcasts a number of each lane four times: lanes i, i + 4, i + 8 and i + 12 in out[i]. */
static inline void wf_broadcast(const float *values, wf out[4])
{
    const wf all = _mm512_load_ps(values);
    const __m512i quarters = _mm512_set_epi32(12, 12, 12, 12, 8, 8, 8, 8, 4, 4, 4, 4, 0, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        out[i] = _mm512_permutexvar_ps(_mm512_add_epi32(quarters, _mm512_set1_epi32(i)), all);
}

static inline void wi_broadcast(const uint32_t *values, wi out[4])
{
    const wi all = _mm512_load_si512(values);
    const wi quarters = _mm512_set_epi32(12, 12, 12, 12, 8, 8, 8, 8, 4, 4, 4, 4, 0, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        out[i] = _mm512_permutexvar_epi32(_mm512_add_epi32(quarters, _mm512_set1_epi32(i)), all);
}

/* A key for all lanes, in the shape of keys. */
static inline void wf_repeat(const float key[4], wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = _mm512_broadcast_f32x4(_mm_loadu_ps(key));
}

/* 4x4 transpose in each quarter. */
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

/* Loads a key of each lane, four lanes in out[i]. */
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

/* Keys of two joints that are adjacent take half the loads. */
#define PAIRS

static inline __m512d load_eight(const th_lanes *from, int low, int high, size_t at)
{
    const __m256 first = _mm256_loadu_ps((const float *)th_lanes_at(from, low, at));
    const __m256 second = _mm256_loadu_ps((const float *)th_lanes_at(from, high, at));
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_castps_pd(first)), _mm256_castps_pd(second), 1);
}

/* Loads two keys of each lane: lanes i and i + 4 in out[i], i + 8 and i + 12 in out[i + 4]. */
static inline void wf_load_pairs(const th_lanes *from, size_t at, wf out[8])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        out[i] = _mm512_castpd_ps(load_eight(from, i, i + 4, at));
        out[i + 4] = _mm512_castpd_ps(load_eight(from, i + 8, i + 12, at));
    }
}

/* Broadcasts a number of each lane in that shape. */
static inline void wf_broadcast_pairs(const float *values, wf out[8])
{
    const wf all = _mm512_load_ps(values);
    const __m512i halves = _mm512_set_epi32(4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0);
    for (int i = 0; i < 8; i++)
        out[i] = _mm512_permutexvar_ps(_mm512_add_epi32(halves, _mm512_set1_epi32(i % 4 + i / 4 * 8)), all);
}

/* Transposes two keys of each lane in that shape to the components of the first and of the second. */
static inline void wf_split_pairs(wf r[8])
{
    wf_transpose(r);
    wf_transpose(r + 4);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        const wf low = r[i], high = r[i + 4];
        r[i] = _mm512_shuffle_f32x4(low, high, _MM_SHUFFLE(2, 0, 2, 0));
        r[i + 4] = _mm512_shuffle_f32x4(low, high, _MM_SHUFFLE(3, 1, 3, 1));
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

/* One or two keys each of four lanes. */
static inline __m512i load_keys(const th_lanes *from, int lane, size_t at, int count)
{
    __m128i keys[4];
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        const __m128i *key = (const __m128i *)(const void *)th_lanes_at(from, lane + 4 * i, at);
        keys[i] = count == 2 ? _mm_loadu_si128(key) : _mm_loadl_epi64(key);
    }
    const __m512i low = _mm512_inserti32x4(_mm512_castsi128_si512(keys[0]), keys[1], 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(low, keys[2], 2), keys[3], 3);
}

/* Weights the 16-bit keys of two frames by their shares, in the shape of wf_load_floats: `count` keys that follow each
 * other, 1 or 2. Numbers of both frames alternate, so that one instruction multiplies and adds them. */
static inline void wf_blend_shorts(const th_lanes *from, size_t at, size_t next, const wi shares[4], int count, wf *out)
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        const __m512i a = load_keys(from, i, at, count), b = load_keys(from, i, next, count);
        out[i] = _mm512_cvtepi32_ps(_mm512_madd_epi16(_mm512_unpacklo_epi16(a, b), shares[i]));
        if (count == 2)
            out[4 + i] = _mm512_cvtepi32_ps(_mm512_madd_epi16(_mm512_unpackhi_epi16(a, b), shares[i]));
    }
}

/* Transposes sixteen numbers of all lanes to sixteen numbers by lane. */
static inline void wf_transpose_lanes(wf r[16])
{
#pragma GCC unroll 12
    for (int i = 0; i < 16; i += 4)
        wf_transpose(r + i);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) { /* now quarters */
        const wf low01 = _mm512_shuffle_f32x4(r[i], r[i + 4], _MM_SHUFFLE(1, 0, 1, 0));
        const wf high01 = _mm512_shuffle_f32x4(r[i], r[i + 4], _MM_SHUFFLE(3, 2, 3, 2));
        const wf low23 = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], _MM_SHUFFLE(1, 0, 1, 0));
        const wf high23 = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], _MM_SHUFFLE(3, 2, 3, 2));
        r[i] = _mm512_shuffle_f32x4(low01, low23, _MM_SHUFFLE(2, 0, 2, 0));
        r[i + 4] = _mm512_shuffle_f32x4(low01, low23, _MM_SHUFFLE(3, 1, 3, 1));
        r[i + 8] = _mm512_shuffle_f32x4(high01, high23, _MM_SHUFFLE(2, 0, 2, 0));
        r[i + 12] = _mm512_shuffle_f32x4(high01, high23, _MM_SHUFFLE(3, 1, 3, 1));
    }
}

/* 1 with the sign of a. */
static inline wf wf_sign(wf a)
{
    const __m512i sign = _mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(INT32_MIN));
    return _mm512_castsi512_ps(_mm512_or_si512(sign, _mm512_castps_si512(_mm512_set1_ps(1))));
}

/* The low 22 bits of `low`; above them ten bits of `high`, from bit `drop` on. */
static inline wf wf_pack(wf low, wf high, int drop)
{
    const __m512i bottom = _mm512_and_si512(_mm512_castps_si512(low), _mm512_set1_epi32(0x3fffff));
    const __m512i top = _mm512_slli_epi32(_mm512_castps_si512(high), (unsigned)(22 - drop));
    return _mm512_castsi512_ps(_mm512_or_si512(bottom, _mm512_and_si512(top, _mm512_set1_epi32(~0x3fffff))));
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
