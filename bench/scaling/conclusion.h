/* What follows from the figures of a scaling experiment: laws, intervals and the bottleneck. Private to bench. */
#ifndef TH_BENCH_SCALING_CONCLUSION_H
#define TH_BENCH_SCALING_CONCLUSION_H

#include "experiment.h"

/* Fits the curves: to the repetitions, or with several processes to their medians. Fails when memory is out. */
th_result th_scale_fit(th_scale *scale, th_error *err);

/* Sets th_row.own of all rows. */
void th_scale_describe_rows(th_scale *scale);

/* The bottleneck's input, from figures of this experiment. */
th_bottleneck_input th_scale_input(const th_scale *scale, const th_scale_point *points, const th_scale_parts *parts);

/* Sets the bottleneck. samples: as th_bottleneck_analyze. */
void th_scale_conclude(th_scale *scale, const th_bottleneck_input *samples, uint32_t count, bool are_processes);

/* Resamples whole rounds, sets the intervals of points and the shares of ablations from them, and analyzes the
 * bottleneck. The points and ablations must have their values. Fails when memory is out. */
th_result th_scale_resample(const th_experiment *experiment, th_error *err);

#endif
