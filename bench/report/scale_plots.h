/* The plots of a scaling study. Private to bench. */
#ifndef TH_BENCH_REPORT_SCALE_PLOTS_H
#define TH_BENCH_REPORT_SCALE_PLOTS_H

#include "plot.h"

#include <throng/bench/scale.h>

/* Whether the point was measured: neither failed nor rehearsed. */
bool th_scale_has_figures(const th_scale *scale, uint32_t point);

/* The point with most threads that have a CPU each, of those with figures; any other where none has; NULL: none. */
const th_scale_point *th_scale_last(const th_scale *scale, const th_scale_curve *curve);

/* Characters a second. */
double th_scale_throughput(const th_scale_curve *curve, const th_scale_point *point);

/* Speed-up, efficiency, schedulers, maps of crowd by grain. */
void th_scale_plot_curves(const th_scale *scale, FILE *file);

/* Where the time of threads goes, what is left of a frame, and what memory can do. */
void th_scale_plot_time(const th_scale *scale, FILE *file);

#endif
