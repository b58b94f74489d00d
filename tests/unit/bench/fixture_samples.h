/* Samples of numbers by hand, and numbers by chance. */
#ifndef FIXTURE_SAMPLES_H
#define FIXTURE_SAMPLES_H

#include <bench/stats.h>

/* th_samples_fini in the end. */
th_samples samples_of(const double *values, uint32_t count);

/* The index-th number of a standard normal distribution. */
double normal_of(uint64_t seed, uint64_t index);

#endif
