/* One float: portable, and the baseline in every table. */
#include "pose.h"

#define WIDTH 1

typedef float wf;

static inline wf wf_set1(float a)
{
    return a;
}
static inline wf wf_mul(wf a, wf b)
{
    return a * b;
}
static inline wf wf_div(wf a, wf b)
{
    return a / b;
}
static inline wf wf_madd(wf a, wf b, wf c)
{
    return a * b + c;
}
static inline wf wf_msub(wf a, wf b, wf c)
{
    return a * b - c;
}

static inline wf wf_nmadd(wf a, wf b, wf c)
{
    return c - a * b;
}

typedef struct lane_group {
    const float *key;
    size_t frame_floats;
    float alpha;
    float *palette;
} lane_group;

static inline lane_group wf_sources(const th_program *program, const th_lane lanes[WIDTH])
{
    return (lane_group){.key = lanes->key, .frame_floats = program->frame_floats, .alpha = lanes->alpha};
}

static inline void wf_aim(lane_group *lane, float *palette, size_t stride)
{
    (void)stride; /* to the next lane's */
    lane->palette = palette;
}

static inline void wf_load_key(const lane_group *lane, size_t key, wf out[4])
{
    const float *a = lane->key + key, *b = a + lane->frame_floats;
    for (int i = 0; i < 4; i++)
        out[i] = a[i] + lane->alpha * (b[i] - a[i]);
}

static inline void wf_store_row(const lane_group *lane, size_t at, const wf row[4])
{
    for (int i = 0; i < 4; i++)
        lane->palette[at + (size_t)i] = row[i];
}

static inline void wf_store(float *out, wf a)
{
    *out = a;
}
