/* The figures of a scaling experiment. Private to bench. */
#ifndef TH_BENCH_REPORT_SCALE_TEXT_H
#define TH_BENCH_REPORT_SCALE_TEXT_H

#include "figures.h"

#include <bench/scale.h>

/* The points of a curve whose palettes were right. */
json_t *th_scale_points_json(const th_scale *scale, const th_scale_curve *curve);

#endif
