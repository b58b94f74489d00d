#include "fixture_samples.h"

#include <core/random.h>

#include <criterion/criterion.h>

#include <math.h>

th_samples samples_of(const double *values, uint32_t count)
{
    th_samples samples;
    cr_assert(th_samples_init(&samples, count));
    for (uint32_t i = 0; i < count; i++)
        th_samples_add(&samples, values[i]);
    return samples;
}

/* G. Box, M. Muller, A Note on the Generation of Random Normal Deviates, 1958. */
double normal_of(uint64_t seed, uint64_t index)
{
    const double radius = sqrt(-2 * log(1 - th_random_unit(seed, 2 * index)));
    return radius * cos(6.283185307179586 * th_random_unit(seed, 2 * index + 1));
}
