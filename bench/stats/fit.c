#include <bench/fit.h>

#include <bench/stats.h>
#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 3, RESAMPLES = 1000 };

/* Smallest relative error of a point: repetitions cannot show a systematic error, so no point is trusted further. */
#define LEAST_ERROR 0.005

/* 97.5th percentile of the normal distribution. */
#define Z_95 1.959963984540054

/* The parameters of a law. */
typedef struct curve {
    double gamma, sigma, kappa;
} curve;

/* A point to fit: throughput relative to the largest, which keeps the numbers near 1. */
typedef struct observation {
    double threads, throughput, weight; /* weight: 1 / standard error */
} observation;

typedef struct problem {
    th_fit_law law;
    observation *observations;
    uint32_t count;
} problem;

const char *th_fit_law_name(th_fit_law law)
{
    assert(law < TH_FIT_LAW_COUNT);
    return law == TH_FIT_AMDAHL ? "amdahl" : "usl";
}

const char *th_fit_status_name(th_fit_status status)
{
    assert(status < TH_FIT_STATUS_COUNT);
    return status == TH_FIT_GOOD ? "good" : "too_few_points";
}

/* ---- the law ---- */

static double slowing(const curve *l, double n)
{
    return 1 + l->sigma * (n - 1) + l->kappa * n * (n - 1);
}

static double throughput(const curve *l, double n)
{
    return l->gamma * n / slowing(l, n);
}

static double peak_threads(const curve *l)
{
    if (l->kappa == 0)
        return (double)INFINITY;
    const double n = sqrt((1 - l->sigma) / l->kappa);
    return n > 1 ? n : 1;
}

static double peak_throughput(const curve *l)
{
    const double n = peak_threads(l);
    return isinf(n) ? l->gamma / l->sigma : throughput(l, n);
}

/* ---- least squares ---- */

static double cost(const problem *p, const curve *l)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const observation *s = &p->observations[i];
        const double r = (throughput(l, s->threads) - s->throughput) * s->weight;
        sum += r * r;
    }
    return sum;
}

/* The best point of a grid, each with the best gamma for its sigma and kappa: the law is linear in gamma. */
static curve search_grid(const problem *p)
{
    static const double sigmas[] = {0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 1};
    static const double kappas[] = {0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1};
    const size_t kappa_count = p->law == TH_FIT_AMDAHL ? 1 : sizeof kappas / sizeof *kappas;
    curve best = {0};
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
        for (size_t k = 0; k < kappa_count; k++) {
            curve l = {1, sigmas[s], kappas[k]};
            double xy = 0, xx = 0;
            for (uint32_t i = 0; i < p->count; i++) {
                const observation *o = &p->observations[i];
                const double x = throughput(&l, o->threads) * o->weight;
                xy += x * o->throughput * o->weight;
                xx += x * x;
            }
            l.gamma = xy / xx;
            if (best.gamma == 0 || cost(p, &l) < cost(p, &best))
                best = l;
        }
    return best;
}

/* The normal equations at l: curvature is J^T J, slope J^T r. */
typedef struct normal {
    double curvature[PARAMETERS][PARAMETERS], slope[PARAMETERS];
} normal;

static normal normal_at(const problem *p, const curve *l)
{
    normal out = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        const observation *s = &p->observations[i];
        const double n = s->threads, x = throughput(l, n), d = slowing(l, n), r = (x - s->throughput) * s->weight;
        const double j[PARAMETERS] = {n / d * s->weight, -x * (n - 1) / d * s->weight,
                                      -x * n * (n - 1) / d * s->weight};
        for (int a = 0; a < PARAMETERS; a++) {
            out.slope[a] += j[a] * r;
            for (int b = 0; b < PARAMETERS; b++)
                out.curvature[a][b] += j[a] * j[b];
        }
    }
    return out;
}

/* Fixes a parameter that is at its bound and would go beyond: its row and column become those of the identity. */
static void hold(normal *n, const problem *p, const curve *l)
{
    const bool held[PARAMETERS] = {
        false,
        (l->sigma <= 0 && n->slope[1] > 0) || (l->sigma >= 1 && n->slope[1] < 0),
        p->law == TH_FIT_AMDAHL || (l->kappa <= 0 && n->slope[2] > 0),
    };
    for (int a = 0; a < PARAMETERS; a++) {
        if (!held[a])
            continue;
        for (int b = 0; b < PARAMETERS; b++)
            n->curvature[a][b] = n->curvature[b][a] = 0;
        n->curvature[a][a] = 1;
        n->slope[a] = 0;
    }
}

/* Solves for the step with a damped diagonal (D. Marquardt, 1963). The matrix is symmetric and positive definite, so no
 * pivots are needed. */
static void solve(const normal *n, double damping, double step[PARAMETERS])
{
    double m[PARAMETERS][PARAMETERS + 1];
    for (int a = 0; a < PARAMETERS; a++) {
        memcpy(m[a], n->curvature[a], sizeof n->curvature[a]);
        m[a][a] += damping * (n->curvature[a][a] + 1e-300);
        m[a][PARAMETERS] = -n->slope[a];
    }
    for (int a = 0; a < PARAMETERS; a++)
        for (int b = a + 1; b < PARAMETERS; b++) {
            const double factor = m[b][a] / m[a][a];
            for (int c = a; c <= PARAMETERS; c++)
                m[b][c] -= factor * m[a][c];
        }
    for (int a = PARAMETERS - 1; a >= 0; a--) {
        step[a] = m[a][PARAMETERS];
        for (int b = a + 1; b < PARAMETERS; b++)
            step[a] -= m[a][b] * step[b];
        step[a] /= m[a][a];
    }
}

/* Levenberg and Marquardt's method. */
static curve descend(const problem *p, curve from)
{
    double damping = 1e-3, at = cost(p, &from);
    for (int i = 0; i < 200 && damping < 1e9; i++) {
        normal n = normal_at(p, &from);
        double step[PARAMETERS];
        hold(&n, p, &from);
        solve(&n, damping, step);
        const curve to = {
            .gamma = from.gamma + step[0],
            .sigma = fmin(fmax(from.sigma + step[1], 0), 1),
            .kappa = fmax(from.kappa + step[2], 0),
        };
        const double there = cost(p, &to);
        if (!(there < at)) {
            damping *= 10;
            continue;
        }
        const bool done = at - there < 1e-12 * at;
        from = to;
        at = there;
        damping /= 10;
        if (done)
            break;
    }
    return from;
}

/* ---- the points ---- */

static double per_second(double items, double time_ns)
{
    return items / time_ns * 1e9;
}

typedef struct points {
    const th_fit_point *given;
    uint32_t count, fewest; /* fewest: repetitions of the point that has the fewest */
    th_samples *times;      /* [point] */
    observation *observations;
    double scale; /* items a second for a throughput of 1 */
} points;

static void points_fini(points *p)
{
    for (uint32_t i = 0; p->times && i < p->count; i++)
        th_samples_fini(&p->times[i]);
    free(p->times);
    free(p->observations);
}

static bool points_init(points *p, const th_fit_point *given, uint32_t count)
{
    *p = (points){.given = given, .count = count, .fewest = UINT32_MAX};
    p->times = calloc(count, sizeof *p->times);
    p->observations = calloc(count, sizeof *p->observations);
    if (!p->times || !p->observations)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t repetitions = given[i].repetitions;
        if (!th_samples_init(&p->times[i], repetitions))
            return false;
        for (uint32_t r = 0; r < repetitions; r++)
            th_samples_add(&p->times[i], given[i].time_ns[r]);
        p->fewest = repetitions < p->fewest ? repetitions : p->fewest;

        /* Relative standard error of the median, for a normal distribution: 1.4826 MAD is the standard deviation, and
         * the standard error of a median is 1.2533 times that of a mean. */
        const th_stats stats = th_samples_stats(&p->times[i]);
        const double error = 1.4826 * 1.2533 * th_stats_relative_mad(&stats) / sqrt(stats.count);
        p->observations[i] =
            (observation){given[i].threads, per_second(given[i].items, stats.median), fmax(error, LEAST_ERROR)};
        p->scale = fmax(p->scale, p->observations[i].throughput);
    }
    for (uint32_t i = 0; i < count; i++) {
        observation *o = &p->observations[i];
        o->throughput /= p->scale;
        o->weight = 1 / (o->throughput * o->weight);
    }
    return true;
}

/* ---- intervals ---- */

enum { GAMMA, SIGMA, KAPPA, PEAK_THREADS, PEAK_THROUGHPUT, FIGURES };

static void figures_of(const curve *l, double scale, double out[FIGURES])
{
    out[GAMMA] = l->gamma * scale;
    out[SIGMA] = l->sigma;
    out[KAPPA] = l->kappa;
    out[PEAK_THREADS] = peak_threads(l);
    out[PEAK_THROUGHPUT] = peak_throughput(l) * scale;
}

/* The share of resampled values to cut off at each end. A bootstrap of few repetitions is too narrow, as it lacks
 * Student's distribution and the division by count - 1. (Student's percentile: M. Abramowitz, I. Stegun, Handbook of
 * Mathematical Functions, 1964, 26.7.5.) */
static double left_out(uint32_t repetitions)
{
    const double n = repetitions, v = n - 1, z = Z_95, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    const double t = z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
                     (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
    return 0.5 * erfc(t * sqrt(n / v) / sqrt(2.0));
}

/* Fits medians of resampled repetitions, RESAMPLES times: a bootstrap. */
static bool bound(const points *p, const problem *fitted, const curve *best, uint64_t seed, th_estimate *const out[])
{
    double *values = calloc(((size_t)FIGURES + p->count) * RESAMPLES, sizeof *values); /* [figure][resample], then */
    if (!values)
        return false;
    double *medians = values + (size_t)FIGURES * RESAMPLES; /* [point][resample] */
    for (uint32_t i = 0; i < p->count; i++)
        th_resample_medians(&p->times[i], th_random_bits(seed, i), RESAMPLES, medians + (size_t)i * RESAMPLES);
    for (uint32_t r = 0; r < RESAMPLES; r++) {
        double figures[FIGURES];
        for (uint32_t i = 0; i < p->count; i++)
            fitted->observations[i].throughput =
                per_second(p->given[i].items, medians[(size_t)i * RESAMPLES + r]) / p->scale;
        const curve l = descend(fitted, *best);
        figures_of(&l, p->scale, figures);
        for (int f = 0; f < FIGURES; f++)
            values[f * RESAMPLES + (int)r] = figures[f];
    }
    const double part = fmax(left_out(p->fewest), 1.0 / RESAMPLES);
    for (int f = 0; f < FIGURES; f++) {
        out[f]->low = th_quantile(values + f * RESAMPLES, RESAMPLES, part);
        out[f]->high = th_quantile(values + f * RESAMPLES, RESAMPLES, fmin(1 - part + 1.0 / RESAMPLES, 1));
    }
    free(values);
    return true;
}

/* ---- the fit ---- */

static bool fit_points(const points *p, uint64_t seed, th_fit *out)
{
    const problem fitted = {out->law, p->observations, p->count};
    th_estimate *const estimates[FIGURES] = {&out->gamma, &out->sigma, &out->kappa, &out->peak_threads,
                                             &out->peak_throughput};
    const curve best = descend(&fitted, search_grid(&fitted));
    double figures[FIGURES], mean = 0, residual = 0, total = 0, relative = 0;
    figures_of(&best, p->scale, figures);
    for (int f = 0; f < FIGURES; f++)
        estimates[f]->value = figures[f];
    for (uint32_t i = 0; i < p->count; i++)
        mean += p->observations[i].throughput / p->count;
    for (uint32_t i = 0; i < p->count; i++) {
        const double x = p->observations[i].throughput, off = x - throughput(&best, p->observations[i].threads);
        residual += off * off;
        relative += off / x * (off / x);
        total += (x - mean) * (x - mean);
    }
    out->rms = sqrt(relative / p->count);
    out->r_squared = total > 1e-12 * p->count ? 1 - residual / total : (double)NAN;
    return p->fewest < 2 || bound(p, &fitted, &best, seed, estimates);
}

bool th_fit_run(th_fit_law law, const th_fit_point *given, uint32_t count, uint64_t seed, th_fit *out)
{
    assert(law < TH_FIT_LAW_COUNT && (given || count == 0) && out);
    for (uint32_t p = 0; p < count; p++)
        assert(given[p].threads >= 1 && given[p].repetitions > 0 && given[p].time_ns);
    const double nan = (double)NAN;
    const th_estimate unknown = {nan, nan, nan};
    *out = (th_fit){law, TH_FIT_TOO_FEW_POINTS, count, unknown, unknown, unknown, unknown, unknown, nan, nan};
    if (count < TH_FIT_MIN_POINTS)
        return true;
    points p;
    out->status = TH_FIT_GOOD;
    const bool fitted = points_init(&p, given, count) && fit_points(&p, seed, out);
    points_fini(&p);
    return fitted;
}

double th_fit_karp_flatt(double speed_up, double ratio)
{
    assert(ratio > 0);
    return ratio > 1 ? (1 / speed_up - 1 / ratio) / (1 - 1 / ratio) : (double)NAN;
}
