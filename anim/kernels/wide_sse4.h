/* Eight floats in two registers of four, without fused multiply-add: every operation is that of wide_scalar.h, in the
 * same order, so the palettes are the scalar kernel's to the last bit. Nothing here needs more than SSE2.
 *
 * A matrix does not fit into the sixteen registers. Four lanes at a time it would, but half as much is then under way
 * at once, and takes 1.3 to 1.5 times as long. */
#include "pose.h"

#include <smmintrin.h>

#define WIDTH 8

typedef struct wf {
    __m128 low, high; /* lanes 0..3, 4..7 */
} wf;

static inline wf wf_set1(float a)
{
    return (wf){_mm_set1_ps(a), _mm_set1_ps(a)};
}
static inline wf wf_mul(wf a, wf b)
{
    return (wf){_mm_mul_ps(a.low, b.low), _mm_mul_ps(a.high, b.high)};
}
static inline wf wf_div(wf a, wf b)
{
    return (wf){_mm_div_ps(a.low, b.low), _mm_div_ps(a.high, b.high)};
}
static inline wf wf_add(wf a, wf b)
{
    return (wf){_mm_add_ps(a.low, b.low), _mm_add_ps(a.high, b.high)};
}
static inline wf wf_sub(wf a, wf b)
{
    return (wf){_mm_sub_ps(a.low, b.low), _mm_sub_ps(a.high, b.high)};
}
static inline wf wf_madd(wf a, wf b, wf c)
{
    return wf_add(wf_mul(a, b), c);
}
static inline wf wf_msub(wf a, wf b, wf c)
{
    return wf_sub(wf_mul(a, b), c);
}

static inline wf wf_nmadd(wf a, wf b, wf c)
{
    return wf_sub(c, wf_mul(a, b));
}

typedef struct lane_group {
    __m128 alpha[WIDTH]; /* each of one lane */
    const float *key[WIDTH];
    size_t frame_floats;
    float *palette;
    size_t stride;
} lane_group;

static inline lane_group wf_sources(const th_program *program, const th_lane lanes[WIDTH])
{
    lane_group group = {.frame_floats = program->frame_floats};
    for (int i = 0; i < WIDTH; i++) {
        group.key[i] = lanes[i].key;
        group.alpha[i] = _mm_set1_ps(lanes[i].alpha);
    }
    return group;
}

static inline void wf_aim(lane_group *group, float *palette, size_t stride)
{
    group->palette = palette;
    group->stride = stride;
}

/* Keys are four floats, a register: one lane's x y z w. Transposed, four of them are one component of four lanes each.
 */
static inline void wf_load_key(const lane_group *group, size_t key, wf out[4])
{
    __m128 r[WIDTH];
#pragma GCC unroll 12
    for (int i = 0; i < WIDTH; i++) {
        const float *at = group->key[i] + key;
        __m128 a = _mm_load_ps(at), b = _mm_load_ps(at + group->frame_floats);
        r[i] = _mm_add_ps(a, _mm_mul_ps(group->alpha[i], _mm_sub_ps(b, a)));
    }
    _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
    _MM_TRANSPOSE4_PS(r[4], r[5], r[6], r[7]);
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++)
        out[i] = (wf){r[i], r[4 + i]};
}

/* One row of a palette entry: four floats for each lane. */
static inline void wf_store_row(const lane_group *group, size_t at, const wf row[4])
{
    __m128 r[WIDTH];
#pragma GCC unroll 12
    for (int i = 0; i < 4; i++) {
        r[i] = row[i].low;
        r[4 + i] = row[i].high;
    }
    _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
    _MM_TRANSPOSE4_PS(r[4], r[5], r[6], r[7]);
    float *palette = group->palette + at;
#pragma GCC unroll 12
    for (size_t i = 0; i < WIDTH; i++)
        _mm_store_ps(palette + i * group->stride, r[i]);
}

static inline void wf_store(float *out, wf a)
{
    _mm_store_ps(out, a.low);
    _mm_store_ps(out + 4, a.high);
}
