/* Half precision, IEEE 754 binary16: 11 bits of significand, largest value 65504, smallest normal 2^-14. */
#ifndef THRONG_CORE_HALF_H
#define THRONG_CORE_HALF_H

#include <stdint.h>
#include <string.h>

/* Rounds to nearest, ties to even; values from 65520 on become infinity. Returns the same bits as F16C, for NaN too.
 * Requires the default rounding mode. */
static inline uint16_t th_half_from_float(float value)
{
    uint32_t bits, all = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size > 0x7f800000) { /* NaN, quieted */
        all = 0x7e00 | (size >> 13 & 0x3ff);
    } else if (size >= 0x477ff000) {
        all = 0x7c00;
    } else if (size >= 0x38800000) { /* 2^-14 */
        all = (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;
    } else { /* the last bit of a subnormal half is the last bit of 0.5f */
        float sum;
        memcpy(&sum, &size, sizeof sum);
        sum += 0.5F;
        memcpy(&all, &sum, sizeof all);
        all -= 0x3f000000;
    }
    return (uint16_t)(sign | all);
}

/* Exact conversion. */
static inline float th_half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, size = half & 0x7fff;
    uint32_t bits = size << 13;
    float value;
    if (size >= 0x7c00)
        bits += 0x70000000; /* infinity, NaN */
    else
        bits += 0x38000000;
    memcpy(&value, &bits, sizeof value);
    if (size < 0x400) /* no implicit bit */
        value = (float)size * 0x1p-24F;
    memcpy(&bits, &value, sizeof bits);
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
