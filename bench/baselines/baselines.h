/* The schedulers that baselines.c registers. Private to bench. */
#ifndef TH_BENCH_BASELINES_BASELINES_H
#define TH_BENCH_BASELINES_BASELINES_H

#include <bench/baselines.h>

void th_openmp_register(void); /* `omp for` over the chunks, under each of three schedules */

#endif
