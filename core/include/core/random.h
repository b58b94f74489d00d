/* Counter-based random numbers: a hash of a seed and an index n, without state (SplitMix: G. Steele, D. Lea, C. Flood,
 * Fast Splittable Pseudorandom Number Generators, 2014). The n-th number does not depend on how many are drawn. */
#ifndef THRONG_CORE_RANDOM_H
#define THRONG_CORE_RANDOM_H

#include <stdint.h>

/* The n-th number of the stream of a seed. It may be used as the seed of another stream. */
static inline uint64_t th_random_bits(uint64_t seed, uint64_t n)
{
    uint64_t x = seed + (n + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Draws one after the other from the stream of a seed. */
typedef struct th_draws {
    uint64_t seed, count;
} th_draws;

static inline uint64_t th_draws_next(th_draws *draws)
{
    return th_random_bits(draws->seed, draws->count++);
}

/* A seed that nothing in this process can foretell; never 0. */
uint64_t th_entropy(void);

/* Uniform in [0, 1). */
static inline double th_random_unit(uint64_t seed, uint64_t n)
{
    return (double)(th_random_bits(seed, n) >> 11) * 0x1p-53;
}

#endif
