/* Settings that save time by drawing characters a little wrong: milliseconds against pixels. Any row that has both
 * figures is a setting, whatever it is called: pose_ms and error_px_p99 of th_row.own. Private to bench. */
#ifndef TH_BENCH_REPORT_PARETO_H
#define TH_BENCH_REPORT_PARETO_H

#include <throng/bench/report.h>

/* What people do not see. */
#define TH_PARETO_PX 0.5

/* Milliseconds of posing in a frame, and pixels: the 99th percentile. NaN: the row is no setting. */
double th_pareto_ms(const th_row *row);
double th_pareto_px(const th_row *row);

/* Whether the row is a setting that no other one of the report equals or beats in both and beats in one. */
bool th_pareto_is_front(const th_report *report, const th_row *row);

/* The setting that takes least time with at most so many pixels, of equal ones that with fewer; NULL: none. */
const th_row *th_pareto_best(const th_report *report, double px);

/* Nothing where there are no settings. */
void th_pareto_summarize(const th_report *report, th_format format, FILE *file); /* names the best */
void th_pareto_draw(const th_report *report, FILE *file);                        /* a plot, with the front */

#endif
