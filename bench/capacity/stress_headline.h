/* The headline of a stress test. Private to bench. */
#ifndef TH_BENCH_CAPACITY_STRESS_HEADLINE_H
#define TH_BENCH_CAPACITY_STRESS_HEADLINE_H

#include <bench/stress.h>

/* Writes stress->headline, about one of its points, from this and the report. point: NULL if the palettes of all are
 * wrong. */
void th_stress_write_headline(th_stress *stress, const th_stress_point *point);

#endif
