/* The figures and plots of a scaling experiment. Private to bench. */
#ifndef TH_BENCH_REPORT_SCALE_PLOTS_H
#define TH_BENCH_REPORT_SCALE_PLOTS_H

#include "figures.h"
#include "plot.h"

#include <throng/bench/scale.h>

/* Whether the point was measured: it did not fail, and it was no dry run. */
bool th_scale_has_figures(const th_scale *scale, uint32_t point);

/* The measured point with most threads that is not oversubscribed; any measured point where all are; NULL: none. */
const th_scale_point *th_scale_last(const th_scale *scale, const th_scale_curve *curve);

/* The points of a curve whose palettes were right. */
json_t *th_scale_points_json(const th_scale *scale, const th_scale_curve *curve);

/* "<whole frame", and so on: the columns of ablations; without their first letter their names. */
extern const char *const th_ablation_columns[1 + TH_ABLATION_COUNT];

/* Characters a second. */
double th_scale_throughput(const th_scale_point *point);

/* Time a bone and thread. */
double th_scale_grind_ns(const th_row *row, const th_scale_point *point);

/* Speed-up, efficiency, schedulers, and maps of crowd size by grain. */
void th_scale_plot_curves(const th_scale *scale, FILE *file);

/* Where threads spend their time, ablations, and memory bandwidth. */
void th_scale_plot_time(const th_scale *scale, FILE *file);

#endif
