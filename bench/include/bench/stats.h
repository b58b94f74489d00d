/* Samples of a measurement and their statistics. No sample is ever dropped.
 *
 * Any thread, but only one at a time for the same samples: statistics use memory that belongs to them. */
#ifndef THRONG_BENCH_STATS_H
#define THRONG_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct th_samples {
    double *values; /* in the order they were added */
    uint32_t count, capacity;
} th_samples;

/* Room for `capacity` samples, so that adding one never allocates. False when memory is out. */
bool th_samples_init(th_samples *samples, uint32_t capacity);
void th_samples_fini(th_samples *samples);
void th_samples_add(th_samples *samples, double value);

/* Grows the capacity and adds all of `more`. False when memory is out; nothing has changed then. */
bool th_samples_append(th_samples *samples, const th_samples *more);

/* All NaN for no samples; stddev is NaN for one. */
typedef struct th_stats {
    uint32_t count;
    double min, max, mean;
    double median;   /* mean of the two in the middle for an even count */
    double p95, p99; /* as th_quantile */
    double stddev;   /* sample standard deviation: divided by count - 1 */
    double cv;       /* coefficient of variation: stddev / mean */
    double mad;      /* median absolute deviation: half of the samples are this close to the median */
    /* Values whose modified z-score, 0.6745 |value - median| / mad, is above 3.5 (B. Iglewicz, D. Hoaglin, How to
     * Detect and Handle Outliers, 1993). They are counted here and included in all other fields. */
    uint32_t outliers;
} th_stats;

th_stats th_samples_stats(const th_samples *samples);

/* The samples in ascending order; valid until the next call with them. */
const double *th_samples_sorted(const th_samples *samples);

/* The smallest value that at least a share `part` of the values does not exceed (0 < part <= 1): the nearest rank. NaN
 * for no values. Sorts them. */
double th_quantile(double *values, size_t count, double part);

/* mad / median, a robust relative spread. NaN where the median is not above 0. */
double th_stats_relative_mad(const th_stats *stats);

#define TH_CONFIDENCE 0.95

typedef struct th_interval {
    double low, high;
} th_interval;

/* Confidence interval of the population median, at TH_CONFIDENCE: the percentile bootstrap (B. Efron, R. Tibshirani, An
 * Introduction to the Bootstrap, 1993, chapter 13) with 2000 resamples. The seed is fixed: the same samples give the
 * same interval. Not BCa: its jackknife is inconsistent for medians (same book, chapter 11). NaN for no samples; low =
 * high for one. */
th_interval th_median_interval(const th_samples *samples);

/* Confidence interval of a quantile (as th_quantile) of a time series, with the samples in the order they were
 * added: the moving blocks bootstrap (H. Kuensch, The Jackknife and the Bootstrap for General Stationary
 * Observations, 1989). It allows for correlation over up to about `block` samples, and misses slower changes. NaN
 * for fewer than two blocks. */
th_interval th_quantile_interval(const th_samples *samples, double part, uint32_t block);

/* The medians of `count` resamples, each as large as the samples and drawn from them with replacement, for intervals of
 * what follows from several medians. At least one sample. */
void th_resample_medians(const th_samples *samples, uint64_t seed, uint32_t count, double *out);

/* Half the width of th_median_interval, relative to the median: 0.01 means +-1 %. NaN for fewer than two samples, and
 * where the median is not above 0. */
double th_median_ci_half_width(const th_samples *samples);

#endif
