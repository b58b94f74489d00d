/* Settings that save time by drawing characters a little wrong: milliseconds against pixels. Any row that has both
 * figures is a setting, whatever it is called: pose_ms and error_px_p99 of th_row.own. Private to bench. */
#ifndef TH_BENCH_REPORT_PARETO_H
#define TH_BENCH_REPORT_PARETO_H

#include <bench/report.h>

/* What people do not see. */
#define TH_PARETO_PX 0.5

/* The setting that takes least time with at most so many pixels, of equal ones that with fewer; NULL: none. */
const th_row *th_pareto_best(const th_report *report, double px);

/* Names the best; nothing where there are no settings. */
void th_pareto_summarize(const th_report *report, th_format format, FILE *file);

#endif
