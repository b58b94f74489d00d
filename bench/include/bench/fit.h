/* How throughput grows with threads: scaling laws, fitted to measured points.
 *
 *   X(N) = gamma N / (1 + sigma (N - 1) + kappa N (N - 1))
 *
 * is the Universal Scalability Law (N. Gunther, Guerrilla Capacity Planning, 2007). gamma: throughput of one thread.
 * sigma, contention: the share of the work that only one thread at a time can do. kappa, coherency: the cost of each
 * pair of threads to each other, which makes throughput fall after a peak. Amdahl's law (Validity of the single
 * processor approach, 1967) is the same with kappa = 0.
 *
 * The fit takes the median of each point's repetitions. It minimizes the squared relative residuals, weighted by their
 * standard errors (Levenberg-Marquardt from the best point of a grid, within 0 <= sigma <= 1 and 0 <= kappa). */
#ifndef THRONG_BENCH_FIT_H
#define THRONG_BENCH_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* Fewer points cannot determine three parameters. */
#define TH_FIT_MIN_POINTS 4u

typedef struct th_fit_point {
    double threads;        /* at least 1 */
    double items;          /* done in each repetition */
    const double *time_ns; /* one for each repetition; above 0, any order; borrowed */
    uint32_t repetitions;  /* at least 1 */
} th_fit_point;

typedef enum th_fit_law { TH_FIT_AMDAHL = 0, TH_FIT_USL, TH_FIT_LAW_COUNT } th_fit_law;

/* "amdahl", "usl". */
const char *th_fit_law_name(th_fit_law law);

typedef enum th_fit_status { TH_FIT_GOOD = 0, TH_FIT_TOO_FEW_POINTS, TH_FIT_STATUS_COUNT } th_fit_status;

/* "good", "too_few_points". */
const char *th_fit_status_name(th_fit_status status);

/* A value and its 95 % confidence interval, as far as the repetitions can tell. If the machine does not follow the law,
 * only the residual shows it. The interval is NaN for a single repetition. */
typedef struct th_estimate {
    double value, low, high;
} th_estimate;

/* All values are NaN when there are too few points. */
typedef struct th_fit {
    th_fit_law law;
    th_fit_status status;
    uint32_t point_count;
    th_estimate gamma;           /* items a second on one thread */
    th_estimate sigma;           /* 0 to 1 */
    th_estimate kappa;           /* 0 in Amdahl's law */
    th_estimate peak_threads;    /* infinite where throughput never falls; may be fractional */
    th_estimate peak_throughput; /* items a second at the peak; the limit where peak_threads is infinite */
    double rms;                  /* root mean square of the relative residuals */
    double r_squared;            /* of throughput; NaN where all points are equal */
} th_fit;

/* The intervals come from a bootstrap over the repetitions (B. Efron, R. Tibshirani, An Introduction to the Bootstrap,
 * 1993) with the given seed. With few repetitions their percentiles are wider (T. Hesterberg, What Teachers Should Know
 * about the Bootstrap, 2015). Takes some milliseconds. False when memory is out. */
bool th_fit_run(th_fit_law law, const th_fit_point *points, uint32_t count, uint64_t seed, th_fit *out);

/* The serial share implied by a speed-up over a run with 1 / `ratio` of the threads, if nothing else cost anything (A.
 * Karp, H. Flatt, Measuring Parallel Processor Performance, 1990). NaN for a ratio of 1. */
double th_fit_karp_flatt(double speed_up, double ratio);

#endif
