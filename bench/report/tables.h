/* The tables of a result with their notes, for text and for pages; headers and warnings are printed elsewhere. Private
 * to bench. */
#ifndef TH_BENCH_REPORT_TABLES_H
#define TH_BENCH_REPORT_TABLES_H

#include <throng/core/text_format.h>

#include <stdbool.h>
#include <stddef.h>

struct th_report;
struct th_scale;
struct th_stress;
struct th_comparison;

/* A line about kernel, palettes, scheduler and so on. */
void th_scale_print_how(const struct th_scale *scale, th_format format, FILE *file);
void th_stress_print_how(const struct th_stress *stress, th_format format, FILE *file);

/* Which two results were compared. */
void th_comparison_print_sides(const struct th_comparison *comparison, th_format format, FILE *file);

/* Appends to `out` how many entries have each verdict. */
void th_comparison_summarize(const struct th_comparison *comparison, char *out, size_t size);

/* Prints differing conditions, and reasons to doubt the verdicts. */
void th_comparison_print_warnings(const struct th_comparison *comparison, th_format format, FILE *file);

/* Tables of what was timed; of a comparison, the changes. False when memory is out. */
bool th_bench_print_figures(const struct th_report *report, th_format format, FILE *file);
bool th_scale_print_figures(const struct th_scale *scale, th_format format, FILE *file);
bool th_stress_print_figures(const struct th_stress *stress, th_format format, FILE *file);
bool th_comparison_print_figures(const struct th_comparison *comparison, th_format format, FILE *file);

#endif
