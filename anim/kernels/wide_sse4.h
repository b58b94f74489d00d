/* Four floats, without fused multiply-add: every operation is that of wide_scalar.h, in the same order, so the palettes
 * are the scalar kernel's to the last bit. Nothing here needs more than SSE2. */
#include "pose.h"

#include <smmintrin.h>

#define WIDTH 4

typedef __m128 wf;

static inline wf wf_set1(float a)
{
    return _mm_set1_ps(a);
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

typedef struct sources {
    wf alpha[4]; /* each of one lane */
    const char *frame[WIDTH];
} sources;

static inline sources wf_sources(const th_lanes *lanes)
{
    sources from;
    for (int i = 0; i < WIDTH; i++) {
        from.frame[i] = lanes->frame[i];
        from.alpha[i] = _mm_set1_ps(lanes->alpha[i]);
    }
    return from;
}

/* Four floats of each lane, one lane in out[i]. */
static inline void wf_load(const sources *from, size_t at, wf out[4])
{
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = _mm_load_ps((const float *)(from->frame[i] + at));
}

/* One lane's x y z w become one component of four lanes, and back. */
static inline void wf_transpose(wf r[4])
{
    _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
}

/* Four floats for each lane. */
static inline void wf_store_row(const wf row[4], float *out, size_t stride)
{
    wf r[4] = {row[0], row[1], row[2], row[3]};
    wf_transpose(r);
#pragma GCC unroll 12
    for (size_t i = 0; i < WIDTH; i++)
        _mm_store_ps(out + i * stride, r[i]);
}

static inline void wf_store(float *out, wf a)
{
    _mm_store_ps(out, a);
}
