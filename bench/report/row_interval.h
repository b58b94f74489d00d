/* How well an entry's median time is known. Private to bench. */
#ifndef TH_BENCH_REPORT_ROW_INTERVAL_H
#define TH_BENCH_REPORT_ROW_INTERVAL_H

#include <bench/report.h>

/* The median of each process, of several. Without memory, or where a time is 0, there are none. th_samples_fini. */
th_samples th_row_medians(const th_row *row);

/* At TH_CONFIDENCE. With several processes, that of their medians (th_log_interval), which holds for another process of
 * the same program on that machine. With one, that of its repetitions (th_median_interval), which holds for this
 * process only. NaN for no samples. */
th_interval th_row_interval(const th_row *row);

/* Half its width, relative to the median; NaN where the samples are too few to tell. */
double th_row_ci_half_width(const th_row *row);

/* What scatters in the interval: "process" or "repetition". */
const char *th_row_interval_unit(const th_row *row);

#endif
