/* Samples of a measurement and what can be said about them. No sample is ever dropped.
 *
 * Any thread, but two must not ask about the same samples at once: they are sorted in memory that comes with them. */
#ifndef THRONG_BENCH_STATS_H
#define THRONG_BENCH_STATS_H

#include <throng/core/api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

TH_API_BEGIN

typedef struct th_samples {
    double *values; /* in the order they came */
    uint32_t count, capacity;
} th_samples;

/* Room for `capacity` samples, so that adding one never allocates. False when memory is out. */
bool th_samples_init(th_samples *samples, uint32_t capacity);
void th_samples_fini(th_samples *samples);
void th_samples_add(th_samples *samples, double value);

/* Makes room for more, and adds them. False, and nothing has changed, when memory is out. */
bool th_samples_append(th_samples *samples, const th_samples *more);

/* All NaN for no samples; stddev is NaN for one. */
typedef struct th_stats {
    uint32_t count;
    double min, max, mean;
    double median;   /* mean of the two in the middle for an even count */
    double p95, p99; /* as th_quantile */
    double stddev;   /* of a sample: divided by count - 1 */
    double cv;       /* coefficient of variation: stddev / mean */
    double mad;      /* median absolute deviation: half of the samples lie this close to the median */
    /* Values whose modified z-score, 0.6745 |value - median| / mad, is above 3.5 (B. Iglewicz, D. Hoaglin, How to
     * Detect and Handle Outliers, 1993). Counted, and part of all the rest. */
    uint32_t outliers;
} th_stats;

th_stats th_samples_stats(const th_samples *samples);

/* The samples in rising order, good until the next question about them. */
const double *th_samples_sorted(const th_samples *samples);

/* The smallest value that at least a `part` (above 0, up to 1) of them do not exceed: the nearest rank. NaN for none.
 * Sorts them. */
double th_quantile(double *values, size_t count, double part);

/* mad / median, the robust "plus or minus" that reports show. NaN where it means nothing. */
double th_stats_relative_mad(const th_stats *stats);

#define TH_CONFIDENCE 0.95

typedef struct th_interval {
    double low, high;
} th_interval;

/* Where the median of what the samples were drawn from lies, with a confidence of TH_CONFIDENCE: the percentile
 * bootstrap (B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13), of 2000 resamples by a fixed
 * seed: the same samples give the same interval. Not BCa, which corrects by a jackknife that is inconsistent for
 * medians (the same, chapter 11). NaN for none; a point for one. */
th_interval th_median_interval(const th_samples *samples);

/* Likewise where the ratio of the two medians lies; each set is resampled on its own. NaN where one is empty or the
 * median of the second may be 0. */
th_interval th_ratio_interval(const th_samples *over, const th_samples *under);

/* Where the quantile (as th_quantile) lies of what the samples, in the order they were added, are a stretch of: the
 * bootstrap of moving blocks (H. Kuensch, The Jackknife and the Bootstrap for General Stationary Observations, 1989).
 * Neighbours may be alike, over up to `block` samples or so; what changes more slowly is not seen. NaN for fewer than
 * two blocks. */
th_interval th_quantile_interval(const th_samples *samples, double part, uint32_t block);

/* Half the width of the interval of the median / median: 0.01 where the median is known to 1 %. NaN where that means
 * nothing, and for fewer than two samples. */
double th_median_ci_half_width(const th_samples *samples);

TH_API_END

#endif
