#include "prometheus.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

void th_prometheus_begin(FILE *file, const char *name, th_metric_type type, const char *help)
{
    assert(name && help && !strchr(help, '\n'));
    static const char *const types[] = {"counter", "gauge", "histogram"};
    fprintf(file, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, types[type]);
}

/* Prints whole numbers exactly up to 2^53, the limit of doubles, which bytes of palettes can reach in two weeks. Beyond
 * that, twelve digits are enough. */
static void write_value(FILE *file, double value)
{
    fprintf(file, fabs(value) < 0x1p53 && value == floor(value) ? " %.0f\n" : " %.12g\n", value);
}

void th_prometheus_sample(FILE *file, const char *name, double value, const char *const labels[])
{
    assert(name);
    fputs(name, file);
    for (int l = 0; labels && labels[l]; l += 2) {
        fprintf(file, "%c%s=\"", l ? ',' : '{', labels[l]);
        for (const char *c = labels[l + 1]; *c; c++)
            if (*c == '\n')
                fputs("\\n", file);
            else
                fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fputc('"', file);
    }
    if (labels && labels[0])
        fputc('}', file);
    write_value(file, value);
}

void th_prometheus_histogram(FILE *file, const char *name, const char *help, const th_histogram *h)
{
    char bucket[96], sum[96], count[96], bound[32];
    snprintf(bucket, sizeof bucket, "%s_bucket", name);
    snprintf(sum, sizeof sum, "%s_sum", name);
    snprintf(count, sizeof count, "%s_count", name);
    th_prometheus_begin(file, name, TH_METRIC_HISTOGRAM, help);
    for (uint32_t octave = 4; octave <= TH_HISTOGRAM_OCTAVES; octave++) {
        /* Times beyond the last octave are in its last bucket. */
        const bool last = octave == TH_HISTOGRAM_OCTAVES;
        if (last)
            snprintf(bound, sizeof bound, "+Inf");
        else
            snprintf(bound, sizeof bound, "%.6f", ldexp(1e-6, (int)octave));
        th_prometheus_sample(file, bucket, (double)th_histogram_below(h, octave), (const char *[]){"le", bound, NULL});
    }
    th_prometheus_sample(file, sum, (double)h->sum_ns * 1e-9, NULL);
    th_prometheus_sample(file, count, (double)h->total, NULL);
}
