#include <throng/stats.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool th_samples_init(th_samples *samples, uint32_t capacity)
{
    /* The second half is where th_samples_stats sorts, so that asking for statistics cannot fail. */
    *samples = (th_samples){.values = calloc(2 * ((size_t)capacity + 1), sizeof(double)), .capacity = capacity};
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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sort_and_find_median(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

th_stats th_samples_stats(const th_samples *samples)
{
    const double nan = (double)NAN;
    uint32_t n = samples->count;
    if (n == 0)
        return (th_stats){0, nan, nan, nan, nan, nan, nan};

    double *sorted = samples->values + samples->capacity;
    memcpy(sorted, samples->values, n * sizeof *sorted);
    double median = sort_and_find_median(sorted, n);
    th_stats stats = {.count = n, .median = median, .min = sorted[0], .max = sorted[n - 1]};
    for (uint32_t i = 0; i < n; i++)
        stats.mean += sorted[i] / n;
    double squares = 0;
    for (uint32_t i = 0; i < n; i++)
        squares += (sorted[i] - stats.mean) * (sorted[i] - stats.mean);
    stats.stddev = n > 1 ? sqrt(squares / (n - 1)) : nan;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = fabs(sorted[i] - stats.median);
    stats.mad = sort_and_find_median(sorted, n);
    return stats;
}

double th_quantile(double *values, size_t count, double part)
{
    if (count == 0)
        return (double)NAN;
    qsort(values, count, sizeof *values, ascending);
    return values[(size_t)ceil(part * (double)count) - 1];
}

double th_stats_spread(const th_stats *stats)
{
    return stats->median > 0 ? stats->mad / stats->median : (double)NAN;
}
