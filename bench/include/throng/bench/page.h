/* A result as one page for browsers: its headline, plots, tables, conditions, and the command that made it.
 *
 * A page is a single file of static HTML that is well-formed XML, too. It has its style and its plots (SVG) inside,
 * asks the network for nothing and runs no script; a policy of its own (Content-Security-Policy) allows neither. So it
 * opens from a disk, a mail or the artifacts of a CI run. Where a server's policy forbids styles it is plain, and
 * complete. It is made for windows from 400 pixels up, for light and dark, and for paper.
 *
 * Names, errors and commands may hold anything: they are escaped, bytes that are no text are replaced. NaN and infinity
 * never appear: such values are not drawn, and a dash in tables. Numbers are written as the C locale has them, which
 * the program must not have changed. */
#ifndef THRONG_BENCH_PAGE_H
#define THRONG_BENCH_PAGE_H

#include <throng/core/api.h>

#include <stdbool.h>
#include <stdio.h>

TH_API_BEGIN

struct th_report;
struct th_scale;
struct th_stress;
struct th_comparison;

/* command: the line that made the result, as a shell would take it. False when memory is out or the stream failed. Any
 * result will do: of a dry run, or with entries that failed. */
bool th_bench_page(const struct th_report *report, const char *command, FILE *file);
bool th_scale_page(const struct th_scale *scale, const char *command, FILE *file);
bool th_stress_page(const struct th_stress *stress, const char *command, FILE *file);
bool th_comparison_page(const struct th_comparison *comparison, const char *command, FILE *file);

TH_API_END

#endif
