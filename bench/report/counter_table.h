/* The table of what was counted in additional frames. Private to bench. */
#ifndef TH_BENCH_REPORT_COUNTER_TABLE_H
#define TH_BENCH_REPORT_COUNTER_TABLE_H

#include <bench/report.h>

/* A blank line, entries that have counters, and what is missing of them; nothing where there are none. False
 * when memory is out. */
bool th_counter_table_print(const th_report *report, th_format format, FILE *file);

#endif
