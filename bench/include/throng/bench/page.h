/* A result as one HTML page: its headline, plots, tables, conditions, and the command that made it.
 *
 * A page is a single static HTML file that is also well-formed XML. Its style and plots (SVG) are embedded. It makes no
 * network requests and runs no script, and its Content-Security-Policy forbids both. So it opens from a disk, a mail or
 * CI artifacts. Where a server's policy forbids styles, it is plain but complete. It is laid out for windows from 400
 * pixels up, for light and dark mode, and for print.
 *
 * Names, errors and commands may hold any bytes: they are escaped, and invalid UTF-8 is replaced. NaN and infinity are
 * never written: plots skip them, tables show a dash. Numbers are written in the C locale, which the program must not
 * change. */
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
struct th_rank_scaling;

/* command: the shell command that made the result. The result may be any: of a dry run, or with failed entries. False
 * when memory is out or writing to the stream failed. */
bool th_bench_page(const struct th_report *report, const char *command, FILE *file);
bool th_scale_page(const struct th_scale *scale, const char *command, FILE *file);
bool th_rank_scaling_page(const struct th_rank_scaling *scaling, const char *command, FILE *file);
bool th_stress_page(const struct th_stress *stress, const char *command, FILE *file);
bool th_comparison_page(const struct th_comparison *comparison, const char *command, FILE *file);

TH_API_END

#endif
