/* sRGB: IEC 61966-2-1:1999. Only tables of numbers in double precision, so all hosts find the same bytes. */
#include "resolve.h"

#include <math.h>
#include <stdbool.h>

enum { LEVELS = 256, ALPHA = 3 };

/* light[v]: of a stored v, 0 to 1; below[v]: the light between v - 1 and v that is rounded to v. */
static double light[LEVELS], below[LEVELS];

static double linear_from(double stored)
{
    const double v = stored / (LEVELS - 1);
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static void set_tables(void)
{
    for (int v = 0; light[LEVELS - 1] == 0 && v < LEVELS; v++) {
        below[v] = linear_from(v - 0.5);
        light[v] = linear_from(v);
    }
}

static uint32_t stored_from(double linear)
{
    uint32_t low = 0;
    for (uint32_t step = LEVELS / 2; step > 0; step /= 2)
        if (linear >= below[low + step])
            low += step;
    return low;
}

static uint32_t mean_of(const uint64_t *samples, uint32_t per_pixel)
{
    double sums[ALPHA + 1] = {0};
    for (uint32_t s = 0; s < per_pixel; s++)
        for (int c = 0; c <= ALPHA; c++) {
            const uint8_t v = (uint8_t)(samples[s] >> (8 * c));
            sums[c] += c == ALPHA ? v : light[v];
        }
    uint32_t colour = (uint32_t)lround(sums[ALPHA] / per_pixel) << (8 * ALPHA);
    for (int c = 0; c < ALPHA; c++)
        colour |= stored_from(sums[c] / per_pixel) << (8 * c);
    return colour;
}

/* Most pixels are of one colour. */
static bool are_alike(const uint64_t *samples, uint32_t per_pixel)
{
    for (uint32_t s = 1; s < per_pixel; s++)
        if ((uint32_t)samples[s] != (uint32_t)samples[0])
            return false;
    return true;
}

void th_mpi_resolve(const uint64_t *samples, uint32_t count, uint32_t per_pixel, uint32_t *out)
{
    set_tables();
    for (uint32_t i = 0; i < count; i++, samples += per_pixel)
        out[i] = are_alike(samples, per_pixel) ? (uint32_t)samples[0] : mean_of(samples, per_pixel);
}
