/* Prometheus' text format, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/ */
#ifndef TH_SERVE_PROMETHEUS_H
#define TH_SERVE_PROMETHEUS_H

#include <bench/histogram.h>

#include <stdio.h>

typedef enum th_metric_type { TH_METRIC_COUNTER, TH_METRIC_GAUGE, TH_METRIC_HISTOGRAM } th_metric_type;

/* Writes # HELP and # TYPE; samples of the same name follow. */
void th_prometheus_begin(FILE *file, const char *name, th_metric_type type, const char *help);

/* labels: pairs of name and value, ending with NULL; values may be any text. NULL: none. */
void th_prometheus_sample(FILE *file, const char *name, double value, const char *const labels[]);

/* A complete histogram, in seconds, with a bucket for each power of two from 16 us to 33.6 s. */
void th_prometheus_histogram(FILE *file, const char *name, const char *help, const th_histogram *histogram);

#endif
