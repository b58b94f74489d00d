/* The parts that all pages are made of (throng/bench/page.h). Private to bench. */
#ifndef TH_BENCH_REPORT_HTML_H
#define TH_BENCH_REPORT_HTML_H

#include <throng/bench/report.h>

/* Everything up to the first section: title, result, command. lead: more to say of the result, NULL for nothing. */
typedef struct th_html_head {
    const char *title;    /* "throng scale" */
    const char *headline; /* the result in a sentence */
    const char *lead, *command;
} th_html_head;

/* What a report without figures has for a headline: that it is a rehearsal, or that entries failed. False, and nothing
 * is written, when it has figures and all is well. */
bool th_html_trouble(const th_report *report, char *out, size_t size);

void th_html_begin(const th_html_head *head, FILE *file);

/* Sections have a heading; figures inside of them stand side by side where there is room. */
void th_html_section(const char *heading, FILE *file);
void th_html_section_end(FILE *file);
void th_html_figures(FILE *file);
void th_html_figures_end(FILE *file);

/* The rest. False when the stream failed. */
bool th_html_end(FILE *file);

/* ---- conditions ---- */

/* What was animated and on what machine; lines that say more may follow. Then what makes the figures doubtful. */
void th_html_conditions(const th_report *report, FILE *file);
void th_html_warnings(const th_report *report, FILE *file);

/* A section with the entries that failed their check, if any did. False when memory is out. */
bool th_html_failures(const th_report *report, FILE *file);

/* A section with everything else that is known of them; of two contexts side by side, and where they differ. False when
 * memory is out. */
bool th_html_context(const th_report *report, FILE *file);
bool th_html_contexts(const json_t *old_context, const json_t *new_context, FILE *file);

#endif
