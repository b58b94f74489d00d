/* Reasons to doubt the verdicts of a comparison, as text. Private to bench. */
#ifndef TH_BENCH_COMPARE_COMPARE_WARNINGS_H
#define TH_BENCH_COMPARE_COMPARE_WARNINGS_H

#include <bench/compare.h>

/* Texts of one sentence; NULL when memory is out. */
json_t *th_compare_warnings(const th_comparison *comparison);

#endif
