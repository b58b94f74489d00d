/* POP factors as functions of what was counted; no pool and no clock. Private to bench. */
#ifndef TH_BENCH_SCALING_POP_FACTORS_H
#define TH_BENCH_SCALING_POP_FACTORS_H

#include "scale_figures.h"

/* Of a point, beside the first of its curve, which may be the same. */
th_pop th_pop_of(const th_scale_counts *counts, const th_scale_counts *first);

#endif
