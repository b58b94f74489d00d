/* Writes a command's result: as text or one JSON document to standard output, and to files in the form that an option
 * or the file's ending selects. */
#ifndef TH_CLI_OUTPUT_H
#define TH_CLI_OUTPUT_H

#include <cli/run.h>

#include <bench/report.h>

#include <jansson.h>
#include <stdio.h>

typedef struct th_output_options {
    bool json;          /* instead of text */
    const char *out;    /* a file that also gets the result; NULL: none, as below */
    const char *report; /* a page */
    const char *save;   /* the name of a baseline */
} th_output_options;

typedef enum th_form {
    TH_FORM_TEXT = TH_FORMAT_TEXT,
    TH_FORM_MARKDOWN = TH_FORMAT_MARKDOWN,
    TH_FORM_CSV = TH_FORMAT_CSV,
    TH_FORM_HTML = TH_FORMAT_HTML,
    TH_FORM_WIDE = TH_FORMAT_WIDE,
    TH_FORM_JSON,
} th_form;

/* Writes the result in this form; a result that has only text and JSON writes JSON for the others. Returns false when
 * out of memory. */
typedef bool th_write_fn(const void *result, th_form form, FILE *file);

/* Writes a document with this many digits for a real number, and frees it. document: NULL when out of memory; returns
 * false then. */
bool th_output_json(json_t *document, int digits, FILE *file);

/* Writes the result as the options ask. Continues after a failed output, because the measurement took long: reports
 * each failure and returns the first exit code. */
int th_output_write(th_run *run, const th_output_options *options, th_write_fn *write, const void *result);

/* The same for a result with this report. Also reports each failed entry; then returns TH_EXIT_CHECK. A partial result
 * does not replace a whole one that was saved; returns th_interrupt_code() for it. */
int th_output_report(th_run *run, const th_output_options *options, th_write_fn *write, const void *result,
                     const th_report *report);

/* Flushes standard output, the last chance to notice a full disk. Returns an exit code. */
int th_output_finish(void);

#endif
