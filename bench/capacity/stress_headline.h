/* The line of a stress test that people quote. Private to bench. */
#ifndef TH_BENCH_CAPACITY_STRESS_HEADLINE_H
#define TH_BENCH_CAPACITY_STRESS_HEADLINE_H

#include <throng/bench/stress.h>

/* Into stress->headline, about one of its points, from this and the report. NULL: the palettes of all are wrong. */
void th_stress_write_headline(th_stress *stress, const th_stress_point *point);

#endif
