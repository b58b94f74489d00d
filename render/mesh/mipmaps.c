#include "mipmaps.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* IEC 61966-2-1. */
static float linear_of(uint8_t srgb)
{
    const float c = (float)srgb / 255;
    return c <= 0.04045F ? c / 12.92F : powf((c + 0.055F) / 1.055F, 2.4F);
}

static uint8_t srgb_of(float linear)
{
    const float c = linear <= 0.0031308F ? 12.92F * linear : 1.055F * powf(linear, 1 / 2.4F) - 0.055F;
    return (uint8_t)lrintf(255 * c);
}

static void mean(const uint8_t *const texels[4], const float linear[256], uint8_t *out)
{
    uint32_t alpha = 0;
    for (int t = 0; t < 4; t++)
        alpha += texels[t][3];
    for (int i = 0; i < 3; i++) {
        float sum = 0;
        for (int t = 0; t < 4; t++)
            sum += linear[texels[t][i]] * (alpha > 0 ? (float)texels[t][3] : 1);
        out[i] = srgb_of(sum / (alpha > 0 ? (float)alpha : 4));
    }
    out[3] = (uint8_t)((alpha + 2) / 4);
}

void th_mipmap_halve(const uint8_t *rgba, uint32_t width, uint32_t height, uint8_t *out)
{
    assert(rgba && out && width > 0 && height > 0 && (width > 1 || height > 1));
    float linear[256];
    for (int i = 0; i < 256; i++)
        linear[i] = linear_of((uint8_t)i);
    const uint32_t right = width > 1 ? 1 : 0, down = height > 1 ? 1 : 0;
    for (uint32_t y = 0; y < (height + !down) / 2; y++)
        for (uint32_t x = 0; x < (width + !right) / 2; x++) {
            const uint8_t *at = rgba + 4 * ((size_t)(y << down) * width + (x << right)),
                          *below = at + 4 * (size_t)(down * width);
            const uint8_t *const texels[4] = {at, at + 4 * right, below, below + 4 * right};
            uint8_t texel[4];
            mean(texels, linear, texel);
            for (int i = 0; i < 4; i++)
                *out++ = texel[i];
        }
}
