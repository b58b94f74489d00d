/* The tables of a result and the lines that explain them, without what stands above and below: for texts and for pages.
 * Private to bench. */
#ifndef TH_BENCH_REPORT_TABLES_H
#define TH_BENCH_REPORT_TABLES_H

#include <throng/core/text_format.h>

#include <stdbool.h>
#include <stddef.h>

struct th_report;
struct th_scale;
struct th_stress;
struct th_comparison;

/* The line that says how it was animated. */
void th_scale_print_how(const struct th_scale *scale, th_format format, FILE *file);
void th_stress_print_how(const struct th_stress *stress, th_format format, FILE *file);

/* Which two results were compared. */
void th_comparison_print_sides(const struct th_comparison *comparison, th_format format, FILE *file);

/* How many entries have which verdict, behind what is in `out`. */
void th_comparison_summarize(const struct th_comparison *comparison, char *out, size_t size);

/* In what their conditions differ, and what makes the verdicts doubtful. */
void th_comparison_print_warnings(const struct th_comparison *comparison, th_format format, FILE *file);

/* All but that of a comparison: of what was timed. False when memory is out. */
bool th_bench_print_figures(const struct th_report *report, th_format format, FILE *file);
bool th_scale_print_figures(const struct th_scale *scale, th_format format, FILE *file);
bool th_stress_print_figures(const struct th_stress *stress, th_format format, FILE *file);
bool th_comparison_print_figures(const struct th_comparison *comparison, th_format format, FILE *file);

#endif
