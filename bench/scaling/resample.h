/* The intervals of a scaling experiment. Private to bench. */
#ifndef TH_BENCH_SCALING_RESAMPLE_H
#define TH_BENCH_SCALING_RESAMPLE_H

#include "experiment.h"

/* Resamples whole rounds, sets the intervals of points and the shares of ablations from them, and analyzes the
 * bottleneck. The points and ablations must have their values. Fails when memory is out. */
th_result th_scale_resample(const th_experiment *experiment, th_error *err);

#endif
