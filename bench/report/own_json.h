/* th_row.own of a point of a scaling experiment and of a stress test. NULL when memory is out. Private to bench. */
#ifndef TH_BENCH_REPORT_OWN_JSON_H
#define TH_BENCH_REPORT_OWN_JSON_H

#include <bench/scale.h>
#include <bench/stress.h>

json_t *th_scale_own_json(const th_scale *scale, const th_scale_curve *curve, uint32_t point);
json_t *th_stress_own_json(const th_stress *stress, uint32_t point);

#endif
