/* The common parts of all pages (throng/bench/page.h). Private to bench. */
#ifndef TH_BENCH_REPORT_HTML_H
#define TH_BENCH_REPORT_HTML_H

#include "tables.h"

#include <throng/bench/report.h>

/* Everything before the first section: title, result, command. lead: further text below the headline, NULL for none. */
typedef struct th_html_head {
    const char *title;    /* "throng scale" */
    const char *headline; /* the result in a sentence */
    const char *lead, *command;
} th_html_head;

/* Writes the headline of a report without times: a dry run, or failed entries. False, and nothing is written, when it
 * has times and no failures. */
bool th_html_trouble(const th_report *report, char *out, size_t size);

void th_html_begin(const th_html_head *head, FILE *file);

/* The whole page of a report. plots: writes sections with plots; false when memory is out. */
bool th_html_report(const th_html_head *head, const th_tables *tables, const th_report *report, const void *result,
                    bool (*plots)(const void *result, FILE *file), FILE *file);

/* Sections have a heading; in a section of plots, with a note if there is one, these stand side by side where there is
 * room. */
void th_html_section(const char *heading, FILE *file);
void th_html_section_end(FILE *file);
void th_html_plots(const char *heading, const char *note, FILE *file);
void th_html_plots_end(FILE *file);

/* Ends the page. False when writing to the stream failed. */
bool th_html_end(FILE *file);

/* A section with the contexts of two results side by side, with the differences marked. False when memory is out. */
bool th_html_contexts(const json_t *old_context, const json_t *new_context, FILE *file);

#endif
