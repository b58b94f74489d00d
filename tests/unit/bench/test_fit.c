/* Fits of scaling laws to made-up data whose law is known. */
#include "fixture_samples.h"

#include <bench/fit.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

enum { MAX_POINTS = 12, REPETITIONS = 15, TRIALS = 200 };

#define ITEMS 1000.0
#define GAMMA 2e6 /* items a second on one thread */

typedef struct data {
    double time_ns[MAX_POINTS][REPETITIONS];
    th_fit_point points[MAX_POINTS];
    uint32_t count;
} data;

static double true_throughput(double n, double sigma, double kappa)
{
    return GAMMA * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

static double fitted_throughput(const th_fit *f, double n)
{
    return f->gamma.value / GAMMA * true_throughput(n, f->sigma.value, f->kappa.value);
}

static data made_up(const double *threads, uint32_t count, double sigma, double kappa, double spread, uint64_t seed)
{
    data d = {.count = count};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t r = 0; r < REPETITIONS; r++)
            d.time_ns[i][r] = 1e9 * ITEMS / true_throughput(threads[i], sigma, kappa) *
                              exp(spread * normal_of(seed, (uint64_t)i * REPETITIONS + r));
    for (uint32_t i = 0; i < count; i++)
        d.points[i].threads = threads[i];
    return d;
}

/* With points that look at its own times. */
static th_fit fit(th_fit_law law, data *d, uint32_t repetitions)
{
    th_fit out;
    for (uint32_t i = 0; i < d->count; i++)
        d->points[i] = (th_fit_point){d->points[i].threads, ITEMS, d->time_ns[i], repetitions};
    cr_assert(th_fit_run(law, d->points, d->count, 7, &out));
    cr_assert_eq(out.law, law);
    cr_assert_eq(out.point_count, d->count);
    return out;
}

static const double to_sixteen[] = {1, 2, 3, 4, 6, 8, 12, 16};
enum { TO_SIXTEEN = 8 };

static void expect_estimate(const th_estimate *e, double value, double tolerance, const char *what)
{
    cr_expect_float_eq(e->value, value, tolerance, "%s: %g, not %g", what, e->value, value);
    const double rounding = 1e-9 * e->value;
    cr_expect(e->low <= e->value + rounding && e->value <= e->high + rounding, "%s: %g in %g to %g", what, e->value,
              e->low, e->high);
}

/* ---- without noise ---- */

Test(fit, finds_the_parameters_of_a_perfect_curve)
{
    static const double cases[][2] = {{0.05, 0.001}, {0.3, 0}, {0, 0.01}, {0.002, 1e-5}, {0.9, 0.2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double sigma = cases[i][0], kappa = cases[i][1];
        data d = made_up(to_sixteen, TO_SIXTEEN, sigma, kappa, 0, 1);
        const th_fit f = fit(TH_FIT_USL, &d, REPETITIONS);
        cr_assert_eq(f.status, TH_FIT_GOOD);
        expect_estimate(&f.gamma, GAMMA, 1e-4 * GAMMA, "gamma");
        expect_estimate(&f.sigma, sigma, 1e-5, "sigma");
        expect_estimate(&f.kappa, kappa, 1e-6, "kappa");
        cr_expect_lt(f.rms, 1e-5);
        cr_expect_gt(f.r_squared, 0.99999);
        for (int n = 1; n < 40; n += 6)
            cr_expect_float_eq(fitted_throughput(&f, n) / true_throughput(n, sigma, kappa), 1, 1e-3, "at %d", n);
    }
}

Test(fit, amdahl_leaves_kappa_out)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0.1, 0, 0, 1);
    const th_fit f = fit(TH_FIT_AMDAHL, &d, REPETITIONS);
    expect_estimate(&f.sigma, 0.1, 1e-6, "sigma");
    cr_expect_eq(f.kappa.value, 0);
    cr_expect_eq(f.kappa.high, 0);
    cr_expect(isinf(f.peak_threads.value), "it never falls");
    expect_estimate(&f.peak_throughput, 10 * GAMMA, 1e-3 * GAMMA, "limit");
}

/* sigma 0.02, kappa 0.0005: sqrt(0.98 / 0.0005) = 44.27 threads. */
Test(fit, predicts_the_peak_beyond_the_points)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0.02, 0.0005, 0, 1);
    const th_fit f = fit(TH_FIT_USL, &d, REPETITIONS);
    expect_estimate(&f.peak_threads, 44.27, 0.01, "peak");
    expect_estimate(&f.peak_throughput, true_throughput(44.27, 0.02, 0.0005), 1e-3 * GAMMA, "throughput there");
}

/* ---- with noise ---- */

/* Estimates of a parameter in many trials: how often the interval had the truth, how wide it was (median), and how
 * far apart the middle 95 % of the values lie. */
typedef struct coverage {
    uint32_t hits;
    double width, range;
} coverage;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static coverage cover(const th_estimate *estimates, double truth)
{
    coverage c = {0};
    double values[TRIALS], widths[TRIALS];
    for (uint32_t i = 0; i < TRIALS; i++) {
        const th_estimate *e = &estimates[i];
        c.hits += e->low <= truth && truth <= e->high;
        values[i] = e->value;
        widths[i] = e->high - e->low;
    }
    qsort(values, TRIALS, sizeof *values, ascending);
    qsort(widths, TRIALS, sizeof *widths, ascending);
    c.width = widths[TRIALS / 2];
    c.range = values[TRIALS - 1 - TRIALS / 40] - values[TRIALS / 40];
    return c;
}

/* As often as they should, and not by being wide. */
static void expect_coverage(const th_estimate *estimates, double truth, const char *what)
{
    const coverage c = cover(estimates, truth);
    cr_expect_geq(c.hits, 0.95 * TRIALS, "%s: the truth in %u of %d intervals", what, c.hits, TRIALS);
    cr_expect_lt(c.hits, TRIALS, "%s: an interval that never misses is too wide", what);
    cr_expect_lt(c.width, 1.5 * c.range, "%s: intervals of %g, values within %g", what, c.width, c.range);
}

static void expect_recovery(double sigma, double kappa, double spread)
{
    static th_estimate gammas[TRIALS], sigmas[TRIALS], kappas[TRIALS], peaks[TRIALS];
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        data d = made_up(to_sixteen, TO_SIXTEEN, sigma, kappa, spread, trial);
        const th_fit f = fit(TH_FIT_USL, &d, REPETITIONS);
        gammas[trial] = f.gamma;
        sigmas[trial] = f.sigma;
        kappas[trial] = f.kappa;
        peaks[trial] = f.peak_threads;
    }
    expect_coverage(gammas, GAMMA, "gamma");
    expect_coverage(sigmas, sigma, "sigma");
    expect_coverage(kappas, kappa, "kappa");
    expect_coverage(peaks, sqrt((1 - sigma) / kappa), "peak");
}

Test(fit, intervals_have_the_truth_in_95_of_100_trials)
{
    expect_recovery(0.05, 0.002, 0.05);
    expect_recovery(0.2, 0.01, 0.02);
}

Test(fit, amdahls_interval_has_the_truth_in_95_of_100_trials)
{
    static th_estimate sigmas[TRIALS];
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        data d = made_up(to_sixteen, TO_SIXTEEN, 0.1, 0, 0.02, trial);
        sigmas[trial] = fit(TH_FIT_AMDAHL, &d, REPETITIONS).sigma;
    }
    expect_coverage(sigmas, 0.1, "sigma");
}

Test(fit, a_noisy_point_weighs_less)
{
    data quiet = made_up(to_sixteen, TO_SIXTEEN, 0.05, 0.001, 0.001, 3), noisy = quiet;
    for (uint32_t r = 0; r < REPETITIONS; r++) {
        quiet.time_ns[4][r] *= 1.3;
        noisy.time_ns[4][r] *= 1.3 * exp(0.5 * normal_of(9, r));
    }
    const double off_quiet = fabs(fit(TH_FIT_USL, &quiet, REPETITIONS).sigma.value - 0.05);
    const double off_noisy = fabs(fit(TH_FIT_USL, &noisy, REPETITIONS).sigma.value - 0.05);
    cr_expect_lt(off_noisy, off_quiet / 3, "off by %g with noise, %g without", off_noisy, off_quiet);
}

Test(fit, same_seed_same_intervals)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0.05, 0.001, 0.02, 3);
    const th_fit first = fit(TH_FIT_USL, &d, REPETITIONS), second = fit(TH_FIT_USL, &d, REPETITIONS);
    th_fit other;
    cr_assert(th_fit_run(TH_FIT_USL, d.points, d.count, 8, &other));
    cr_expect_eq(first.sigma.low, second.sigma.low);
    cr_expect_neq(first.sigma.low, other.sigma.low);
    cr_expect_eq(first.sigma.value, other.sigma.value);
}

Test(fit, one_repetition_has_no_interval)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0.05, 0.001, 0.02, 3);
    const th_fit f = fit(TH_FIT_USL, &d, 1);
    cr_expect_eq(f.status, TH_FIT_GOOD);
    cr_expect(isfinite(f.sigma.value) && isnan(f.sigma.low) && isnan(f.sigma.high));
}

Test(fit, residual_tells_a_law_that_does_not_fit)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0.05, 0.01, 0.005, 3);
    const th_fit usl = fit(TH_FIT_USL, &d, REPETITIONS), amdahl = fit(TH_FIT_AMDAHL, &d, REPETITIONS);
    cr_expect_lt(usl.rms, 0.005);
    cr_expect_gt(amdahl.rms, 0.05);
    cr_expect_lt(amdahl.r_squared, usl.r_squared);
}

/* Where the sum of ((x - fit) / x)^2 is least, its derivative with respect to gamma is 0. */
Test(fit, relative_errors_are_least)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0.05, 0.01, 0.1, 3);
    const th_fit f = fit(TH_FIT_USL, &d, 1);
    double slope = 0;
    for (uint32_t i = 0; i < d.count; i++) {
        const double ratio = fitted_throughput(&f, to_sixteen[i]) / (1e9 * ITEMS / d.time_ns[i][0]);
        slope += (1 - ratio) * ratio;
    }
    cr_expect_float_eq(slope, 0, 1e-4, "%g", slope);
}

Test(fit, residuals_are_relative_to_the_points)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0.05, 0.01, 0.1, 3);
    const th_fit f = fit(TH_FIT_USL, &d, 1);
    double relative = 0, squares = 0, mean = 0, total = 0;
    for (uint32_t i = 0; i < d.count; i++)
        mean += 1e9 * ITEMS / d.time_ns[i][0] / d.count;
    for (uint32_t i = 0; i < d.count; i++) {
        const double x = 1e9 * ITEMS / d.time_ns[i][0], off = x - fitted_throughput(&f, to_sixteen[i]);
        relative += off / x * (off / x) / d.count;
        squares += off * off;
        total += (x - mean) * (x - mean);
    }
    cr_expect_float_eq(f.rms, sqrt(relative), 1e-9);
    cr_expect_float_eq(f.r_squared, 1 - squares / total, 1e-9);
}

/* ---- at the edge ---- */

Test(fit, perfect_scaling_has_no_peak)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0, 0, 0, 1);
    for (int law = 0; law < TH_FIT_LAW_COUNT; law++) {
        const th_fit f = fit((th_fit_law)law, &d, REPETITIONS);
        cr_expect_float_eq(f.sigma.value, 0, 1e-9);
        cr_expect_float_eq(f.kappa.value, 0, 1e-9);
        cr_expect_gt(f.peak_threads.value, 1000);
    }
}

Test(fit, intervals_keep_within_the_bounds)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        data d = made_up(to_sixteen, TO_SIXTEEN, seed < 10 ? 0.001 : 0.99, 1e-5, 0.05, seed);
        const th_fit f = fit(TH_FIT_USL, &d, REPETITIONS);
        cr_expect(f.sigma.low >= 0 && f.sigma.high <= 1, "sigma from %g to %g", f.sigma.low, f.sigma.high);
        cr_expect_geq(f.kappa.low, 0);
        cr_expect_geq(f.peak_threads.low, 1);
    }
}

Test(fit, more_than_perfect_scaling_is_perfect)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 0, 0, 0, 1);
    for (uint32_t r = 0; r < REPETITIONS; r++)
        d.time_ns[7][r] *= 0.8;
    const th_fit f = fit(TH_FIT_USL, &d, REPETITIONS);
    cr_expect_eq(f.sigma.value, 0);
    cr_expect_eq(f.kappa.value, 0);
    cr_expect_gt(f.rms, 0.05);
}

Test(fit, flat_throughput_is_all_serial)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 1, 0, 0, 1);
    for (int law = 0; law < TH_FIT_LAW_COUNT; law++) {
        const th_fit f = fit((th_fit_law)law, &d, REPETITIONS);
        cr_expect_float_eq(f.sigma.value, 1, 1e-6);
        cr_expect_float_eq(f.peak_throughput.value, GAMMA, 1e-3 * GAMMA);
        cr_expect(isnan(f.r_squared), "%g: nothing to explain", f.r_squared);
        cr_expect_lt(f.rms, 1e-6);
    }
}

Test(fit, falling_throughput_peaks_at_the_first_thread)
{
    data d = made_up(to_sixteen, TO_SIXTEEN, 1, 0.5, 0.01, 1);
    const th_fit usl = fit(TH_FIT_USL, &d, REPETITIONS), amdahl = fit(TH_FIT_AMDAHL, &d, REPETITIONS);
    cr_expect_eq(usl.peak_threads.value, 1);
    cr_expect_float_eq(usl.peak_throughput.value, usl.gamma.value, 1);
    cr_expect_eq(amdahl.sigma.value, 1, "a share is at most 1");
    cr_expect_gt(amdahl.rms, usl.rms);
}

Test(fit, three_points_are_too_few)
{
    for (uint32_t count = 0; count <= 4; count++) {
        data d = made_up(to_sixteen, count, 0.05, 0.001, 0.01, 1);
        const th_fit f = fit(TH_FIT_USL, &d, REPETITIONS);
        cr_expect_eq(f.status, count < 4 ? TH_FIT_TOO_FEW_POINTS : TH_FIT_GOOD);
        cr_expect_eq(isnan(f.sigma.value) && isnan(f.peak_threads.low) && isnan(f.rms) && isnan(f.gamma.value),
                     count < 4);
        cr_expect_str_eq(th_fit_status_name(f.status), count < 4 ? "too_few_points" : "good");
    }
}

Test(fit, karp_flatt_is_the_serial_share_of_amdahl)
{
    for (int n = 2; n < 100; n += 7) /* a speed-up of 1 / (s + (1 - s) / n) */
        cr_expect_float_eq(th_fit_karp_flatt(1 / (0.04 + 0.96 / n), n), 0.04, 1e-12);
    cr_expect_eq(th_fit_karp_flatt(8, 8), 0);
    cr_expect(isnan(th_fit_karp_flatt(1, 1)));
}
