/* Inside, since it takes the place of a CPU's vectors. One float that counts what is done to it; otherwise as
 * anim/kernels/wide_scalar.h. */
#include "kernels/pose.h"

#include <math.h>
#include <string.h>

#define WIDTH 1

typedef float wf;
typedef uint32_t wi;

static uint64_t counted_flops, counted_key_bytes, counted_palette_bytes;

static inline wf wf_set1(float a)
{
    return a;
}

#define COUNTED(name, flops, result, ...)                                                                              \
    static inline wf name(__VA_ARGS__)                                                                                 \
    {                                                                                                                  \
        counted_flops += (flops);                                                                                      \
        return result;                                                                                                 \
    }
COUNTED(wf_add, 1, a + b, wf a, wf b)
COUNTED(wf_sub, 1, a - b, wf a, wf b)
COUNTED(wf_mul, 1, a *b, wf a, wf b)
COUNTED(wf_div, 1, a / b, wf a, wf b)
COUNTED(wf_sqrt, 1, sqrtf(a), wf a)
COUNTED(wf_madd, 2, a *b + c, wf a, wf b, wf c)
COUNTED(wf_msub, 2, a *b - c, wf a, wf b, wf c)
COUNTED(wf_nmadd, 2, c - a * b, wf a, wf b, wf c)
COUNTED(wf_max, 1, a > b ? a : b, wf a, wf b)
COUNTED(wf_flip, 1, signbit(b) ? -a : a, wf a, wf b)

static inline wf wf_load(const float *in)
{
    return *in;
}

static inline void wf_broadcast(const float *values, wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = values[0];
}

static inline void wi_broadcast(const uint32_t *values, wi out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = values[0];
}

static inline void wf_repeat(const float key[4], wf out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = key[i];
}

static inline void wf_load_floats(const th_lanes *from, size_t at, wf out[4])
{
    counted_key_bytes += 4 * sizeof *out;
    memcpy(out, th_lanes_at(from, 0, at), 4 * sizeof *out);
}

static inline void wf_load_shorts(const th_lanes *from, size_t at, wf out[4])
{
    int16_t shorts[4];
    counted_key_bytes += sizeof shorts;
    memcpy(shorts, th_lanes_at(from, 0, at), sizeof shorts);
    for (int i = 0; i < 4; i++)
        out[i] = shorts[i];
}

/* Operations on whole numbers count as those of floats that they replace. Weights the 16-bit keys of two frames by
 * their shares: `count` keys that follow each other, 1 or 2. */
static inline void wf_blend_shorts(const th_lanes *from, size_t at, size_t next, const wi shares[4], int count, wf *out)
{
    for (int key = 0; key < count; key++) {
        int16_t a[4], b[4];
        counted_key_bytes += 2 * sizeof a;
        counted_flops += 12;
        memcpy(a, th_lanes_at(from, 0, at + (size_t)key * sizeof a), sizeof a);
        memcpy(b, th_lanes_at(from, 0, next + (size_t)key * sizeof b), sizeof b);
        for (int i = 0; i < 4; i++)
            out[4 * key + i] = (float)(a[i] * (int16_t)shares[i] + b[i] * (int16_t)(shares[i] >> 16));
    }
}

static inline void wf_transpose(wf r[4])
{
    (void)r;
}

static inline void wf_transpose_lanes(wf r[4])
{
    (void)r;
}

/* 1 with the sign of a. */
static inline wf wf_sign(wf a)
{
    return copysignf(1, a);
}

/* The low 22 bits of `low`; above them ten bits of `high`, from bit `drop` on. */
static inline wf wf_pack(wf low, wf high, int drop)
{
    uint32_t bits[2];
    memcpy(bits, (const float[]){low, high}, sizeof bits);
    bits[0] = (bits[0] & 0x3fffff) | bits[1] >> drop << 22;
    memcpy(&low, bits, sizeof low);
    return low;
}

static inline void wf_store(float *out, wf a)
{
    counted_palette_bytes += sizeof *out;
    *out = a;
}

static inline void wf_stream(float *out, wf a)
{
    wf_store(out, a);
}

static inline void wf_fence(void)
{
}
