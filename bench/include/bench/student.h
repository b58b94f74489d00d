/* Intervals and tests over the values of processes. A process's repetitions share its memory layout and its moment, so
 * pooled repetitions make intervals that are too narrow; a process's value is one sample. There are few of them, often
 * twelve, so intervals are Student's: a percentile bootstrap of so few is too narrow as well (T. Hesterberg, What
 * Teachers Should Know about the Bootstrap, 2015). Means of times are of logarithms, because disturbances
 * multiply times. */
#ifndef THRONG_BENCH_STUDENT_H
#define THRONG_BENCH_STUDENT_H

#include <bench/fit.h>
#include <bench/stats.h>

/* The probability that Student's t with these degrees of freedom, not necessarily whole, is at least as far from 0. */
double th_student_p(double t, double freedom);

/* The distance from 0 within which t lies with this probability, below 1. */
double th_student_quantile(double confidence, double freedom);

/* The mean and its interval, at TH_CONFIDENCE; for shares and ratios near 1, which may be 0 or below. NaN where it is
 * unknown: for no values, and the interval for one. */
th_estimate th_student_mean(const double *values, uint32_t count);

/* An estimated logarithm, with its standard error. NaN where there are too few samples for one. */
typedef struct th_log_estimate {
    double value, error, freedom;
} th_log_estimate;

/* The mean of the samples' logarithms. All must be above 0; at least two samples. */
th_log_estimate th_log_mean(const th_samples *samples);

/* How much larger the mean logarithm of `over` is, for sets that may scatter differently (B. Welch, The Generalization
 * of Student's Problem when Several Different Population Variances are Involved, 1947). */
th_log_estimate th_log_difference(const th_samples *over, const th_samples *under);

/* The confidence interval, no longer a logarithm: of a mean, or of a ratio. */
th_interval th_log_interval(const th_log_estimate *estimate, double confidence);

/* Two-sided p of a difference of 0. Where nothing scatters: 1 if there is no difference, else 0. */
double th_log_p(const th_log_estimate *estimate);

#endif
