/* The figures of an entry, in every view of it. Private to bench. */
#ifndef TH_BENCH_REPORT_ROW_FIGURES_H
#define TH_BENCH_REPORT_ROW_FIGURES_H

#include "figures.h"

#include <bench/report.h>

typedef enum th_row_view {
    TH_ROW_JSON = 1,      /* each JSON row of the entry: a repetition or a statistic */
    TH_ROW_CSV = 2,       /* its only row */
    TH_ROW_POSE = 4,      /* tables of bench: poses, the tutorial method and the memory floor */
    TH_ROW_VARIATION = 8, /* other ways to play the crowd */
    TH_ROW_JOB = 16,
    TH_ROW_FRAME = 32,
    TH_ROW_ERROR = 64, /* settings and their error on screen */
    TH_ROW_DRY = 128,  /* the table of a dry run */
} th_row_view;

/* Adds the entry to a sheet of a view. ns: the time of an iteration in TH_ROW_JSON; else ignored. */
void th_row_add(th_sheet *sheet, const th_report *report, const th_row *row, double ns);

/* A field of th_row.own; NaN if it is no number or missing. */
double th_row_own(const th_row *row, const char *name);

/* The time to write the palette entry of a bone and nothing else, the faster of two ways; NaN: unknown. */
double th_row_memory_floor_ns(const th_report *report, const th_row *row);

/* Whether another program was measured, which timed itself. */
bool th_row_is_external(const th_row *row);

#endif
