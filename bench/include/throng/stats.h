/* Samples of a measurement and what can be said about them. No sample is ever dropped. */
#ifndef THRONG_STATS_H
#define THRONG_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct th_samples {
    double *values; /* in the order they came */
    uint32_t count, capacity;
} th_samples;

/* Room for `capacity` samples, so that adding one never allocates. False when memory is out. */
bool th_samples_init(th_samples *samples, uint32_t capacity);
void th_samples_fini(th_samples *samples);
void th_samples_add(th_samples *samples, double value);

/* All NaN for no samples; stddev is NaN for one. */
typedef struct th_stats {
    uint32_t count;
    double min, max, mean;
    double median; /* mean of the two in the middle for an even count */
    double stddev; /* of a sample: divided by count - 1 */
    double mad;    /* median absolute deviation: half of the samples lie this close to the median */
} th_stats;

th_stats th_samples_stats(const th_samples *samples);

/* The smallest value that at least a `part` (above 0, up to 1) of them do not exceed: the nearest rank. NaN for none.
 * Sorts them. */
double th_quantile(double *values, size_t count, double part);

/* mad / median, the robust "plus or minus" that reports show. NaN where it means nothing. */
double th_stats_spread(const th_stats *stats);

#endif
