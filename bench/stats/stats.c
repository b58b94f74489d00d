#include <bench/stats.h>

#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool th_samples_init(th_samples *samples, uint32_t capacity)
{
    assert(samples);
    /* Three parts: the samples, the sorted samples, and tallies of resamples. So statistics need no memory and cannot
     * fail. */
    *samples = (th_samples){.values = calloc(3 * ((size_t)capacity + 1), sizeof(double)), .capacity = capacity};
    return samples->values != NULL;
}

void th_samples_fini(th_samples *samples)
{
    free(samples->values);
    *samples = (th_samples){0};
}

void th_samples_add(th_samples *samples, double value)
{
    assert(samples->count < samples->capacity);
    samples->values[samples->count++] = value;
}

bool th_samples_append(th_samples *samples, const th_samples *more)
{
    assert(samples && more && samples != more);
    th_samples all;
    if (!th_samples_init(&all, samples->count + more->count))
        return false;
    if (samples->count > 0)
        memcpy(all.values, samples->values, samples->count * sizeof *all.values);
    if (more->count > 0)
        memcpy(all.values + samples->count, more->values, more->count * sizeof *all.values);
    all.count = all.capacity;
    th_samples_fini(samples);
    *samples = all;
    return true;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- order ---- */

static double *sort(const th_samples *samples)
{
    double *sorted = samples->values + samples->capacity;
    memcpy(sorted, samples->values, samples->count * sizeof *sorted);
    qsort(sorted, samples->count, sizeof *sorted, ascending);
    return sorted;
}

const double *th_samples_sorted(const th_samples *samples)
{
    assert(samples);
    return sort(samples);
}

static double middle_of(const double *sorted, uint32_t count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double nearest_rank(const double *sorted, size_t count, double part)
{
    return sorted[(size_t)ceil(part * (double)count) - 1];
}

double th_quantile(double *values, size_t count, double part)
{
    assert((values || count == 0) && part > 0 && part <= 1);
    if (count == 0)
        return (double)NAN;
    qsort(values, count, sizeof *values, ascending);
    return nearest_rank(values, count, part);
}

/* ---- statistics ---- */

th_stats th_samples_stats(const th_samples *samples)
{
    assert(samples);
    const double nan = (double)NAN;
    const uint32_t n = samples->count;
    if (n == 0)
        return (th_stats){0, nan, nan, nan, nan, nan, nan, nan, nan, nan, 0};

    double *sorted = sort(samples), squares = 0;
    th_stats stats = {
        .count = n,
        .min = sorted[0],
        .max = sorted[n - 1],
        .median = middle_of(sorted, n),
        .p95 = nearest_rank(sorted, n, 0.95),
        .p99 = nearest_rank(sorted, n, 0.99),
    };
    for (uint32_t i = 0; i < n; i++)
        stats.mean += sorted[i] / n;
    for (uint32_t i = 0; i < n; i++)
        squares += (sorted[i] - stats.mean) * (sorted[i] - stats.mean);
    stats.stddev = n > 1 ? sqrt(squares / (n - 1)) : nan;
    stats.cv = stats.mean > 0 ? stats.stddev / stats.mean : nan;
    double *distances = sorted;
    for (uint32_t i = 0; i < n; i++)
        distances[i] = fabs(sorted[i] - stats.median);
    qsort(distances, n, sizeof *distances, ascending);
    stats.mad = middle_of(distances, n);
    for (uint32_t i = 0; i < n; i++)
        stats.outliers += 0.6745 * distances[i] > 3.5 * stats.mad;
    return stats;
}

double th_stats_relative_mad(const th_stats *stats)
{
    assert(stats);
    return stats->median > 0 ? stats->mad / stats->median : (double)NAN;
}

/* ---- confidence intervals ---- */

enum { RESAMPLES = 2000 };

/* The index of the sample that has this rank in a resample. tally: how often each of the sorted samples was drawn. */
static uint32_t index_of_rank(const uint32_t *tally, uint32_t rank)
{
    uint32_t i = 0;
    for (uint32_t seen = tally[0]; seen <= rank; seen += tally[++i])
        ;
    return i;
}

void th_resample_medians(const th_samples *samples, uint64_t seed, uint32_t count, double *out)
{
    assert(samples && samples->count > 0 && (out || count == 0));
    const uint32_t n = samples->count;
    const double *sorted = sort(samples);
    uint32_t *tally = (uint32_t *)(samples->values + 2 * (size_t)samples->capacity);
    for (uint32_t r = 0; r < count; r++) {
        const uint64_t draws = th_random_bits(seed, r);
        memset(tally, 0, n * sizeof *tally);
        for (uint32_t i = 0; i < n; i++)
            tally[(th_random_bits(draws, i) >> 32) * n >> 32]++;
        const double upper = sorted[index_of_rank(tally, n / 2)];
        out[r] = n % 2 ? upper : (sorted[index_of_rank(tally, n / 2 - 1)] + upper) / 2;
    }
}

/* The confidence interval of resampled values. Sorts them. */
static th_interval middle_part(double *values)
{
    qsort(values, RESAMPLES, sizeof *values, ascending);
    const double tail = (1 - TH_CONFIDENCE) / 2;
    return (th_interval){nearest_rank(values, RESAMPLES, tail), nearest_rank(values, RESAMPLES, 1 - tail)};
}

th_interval th_median_interval(const th_samples *samples)
{
    assert(samples);
    double medians[RESAMPLES];
    if (samples->count == 0)
        return (th_interval){(double)NAN, (double)NAN};
    th_resample_medians(samples, samples->count, RESAMPLES, medians);
    return middle_part(medians);
}

/* For each sample, in the order they were added: the number of smaller samples. */
static void rank(const th_samples *samples, const double *sorted, uint32_t *ranks)
{
    for (uint32_t i = 0; i < samples->count; i++) {
        uint32_t low = 0, high = samples->count - 1;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (sorted[middle] < samples->values[i])
                low = middle + 1;
            else
                high = middle;
        }
        ranks[i] = low;
    }
}

th_interval th_quantile_interval(const th_samples *samples, double part, uint32_t block)
{
    assert(samples && part > 0 && part <= 1 && block > 0);
    double quantiles[RESAMPLES];
    const uint32_t count = samples->count, blocks = count / block;
    if (blocks < 2)
        return (th_interval){(double)NAN, (double)NAN};
    const double *sorted = sort(samples);
    uint32_t *ranks = (uint32_t *)(samples->values + 2 * (size_t)samples->capacity), *tally = ranks + count;
    const uint32_t wanted = (uint32_t)ceil(part * blocks * block) - 1;
    rank(samples, sorted, ranks);
    for (uint32_t r = 0; r < RESAMPLES; r++) {
        const uint64_t seed = th_random_bits(count, r);
        memset(tally, 0, count * sizeof *tally);
        for (uint32_t b = 0; b < blocks; b++) {
            const uint32_t begin = (uint32_t)(th_random_unit(seed, b) * (count - block + 1));
            for (uint32_t i = begin; i < begin + block; i++)
                tally[ranks[i]]++;
        }
        quantiles[r] = sorted[index_of_rank(tally, wanted)];
    }
    return middle_part(quantiles);
}

double th_median_ci_half_width(const th_samples *samples)
{
    assert(samples);
    if (samples->count < 2)
        return (double)NAN;
    const th_interval interval = th_median_interval(samples);
    const double median = middle_of(sort(samples), samples->count);
    return median > 0 ? (interval.high - interval.low) / 2 / median : (double)NAN;
}
