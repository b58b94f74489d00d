/* The tables of a result with their notes, for text and for pages; headers and warnings are printed elsewhere. Private
 * to bench. */
#ifndef TH_BENCH_REPORT_TABLES_H
#define TH_BENCH_REPORT_TABLES_H

#include <core/text_format.h>

#include <stdbool.h>
#include <stddef.h>

struct th_report;
struct th_comparison;

/* The parts of a report of one kind, whose result is a th_report, th_scale, th_stress or th_rank_scaling. */
typedef struct th_tables {
    /* A line about kernel, palettes, scheduler and so on; NULL: none. */
    void (*print_how)(const void *result, th_format format, FILE *file);
    /* Tables of what was timed, with their notes. False when memory is out. */
    bool (*print_figures)(const void *result, th_format format, FILE *file);
} th_tables;

extern const th_tables th_bench_tables, th_scale_tables, th_stress_tables, th_rank_tables;

/* Prints conditions, tables and warnings. False when memory is out. */
bool th_tables_print(const th_tables *tables, const struct th_report *report, const void *result, th_format format,
                     FILE *file);

/* Prints the figures, or the table of a dry run. False when memory is out. */
bool th_tables_print_figures(const th_tables *tables, const struct th_report *report, const void *result,
                             th_format format, FILE *file);

/* The end of a paragraph: a blank line in text, nothing in other formats. */
void th_print_gap(th_format format, FILE *file);

/* Which two results were compared. */
void th_comparison_print_sides(const struct th_comparison *comparison, th_format format, FILE *file);

/* Appends to `out` how many entries have each verdict. */
void th_comparison_summarize(const struct th_comparison *comparison, char *out, size_t size);

/* Prints differing conditions, and reasons to doubt the verdicts. */
void th_comparison_print_warnings(const struct th_comparison *comparison, th_format format, FILE *file);

/* The changes. False when memory is out. */
bool th_comparison_print_figures(const struct th_comparison *comparison, th_format format, FILE *file);

#endif
