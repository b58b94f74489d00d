/* One run of a command: the words that started it; its result, written as text or one JSON document to standard output,
 * and to files in the form that an option or the file's ending selects; and its trace. */
#ifndef TH_CLI_RUN_H
#define TH_CLI_RUN_H

#include <cli/command.h>

#include <bench/report.h>
#include <runtime/tracer.h>

#include <jansson.h>
#include <stdio.h>

enum { TH_RUN_MAX_OPTIONS = 128, TH_RUN_MAX_WORDS = 512 };

typedef struct th_run {
    const th_command *command;
    const char *program; /* how one starts it, with a space in it; NULL: throng */
    char *const *words;  /* after the command, as given */
    int word_count;
    const char *options[TH_RUN_MAX_OPTIONS]; /* the names of those given */
    uint32_t option_count;
    /* The options as given, without those that are for one process only: the words for further processes that measure
     * the same. */
    const char *process_words[TH_RUN_MAX_WORDS];
    uint32_t process_word_count;
    th_tracer *tracer; /* of --trace; NULL without it; all functions that take a tracer accept NULL */
    bool is_partial;   /* the result is of an interrupted measurement */
    bool has_result;   /* a result was ready to write, even if writing failed */
} th_run;

/* Whether the option was on the command line. */
bool th_run_has_option(const th_run *run, const char *name);

/* ---- the result ---- */

typedef struct th_output_options {
    bool json;          /* instead of text */
    const char *out;    /* a file that also gets the result; NULL: none, as below */
    const char *report; /* a page */
    const char *save;   /* the name of a baseline */
} th_output_options;

typedef enum th_form {
    TH_FORM_TEXT = TH_OUTPUT_TEXT,
    TH_FORM_MARKDOWN = TH_OUTPUT_MARKDOWN,
    TH_FORM_CSV = TH_OUTPUT_CSV,
    TH_FORM_HTML = TH_OUTPUT_HTML,
    TH_FORM_WIDE = TH_OUTPUT_WIDE,
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

/* ---- baselines ----
 *
 * Results stored under a name, to compare with. They are files NAME.json in $XDG_DATA_HOME/throng/baselines, or where
 * that is not set, $HOME/.local/share/throng/baselines. */

enum { TH_BASELINE_MAX_PATH = 4096 };

/* Valid names: up to 64 letters, digits, dots, dashes and underscores; a dot or a dash must not come first. */
bool th_baseline_is_name(const char *text);

/* Whether `word`, a file or a baseline, means a baseline: no file has this name. */
bool th_baseline_is_meant(const char *word);

/* Writes the file's path; path: TH_BASELINE_MAX_PATH bytes. TH_ERR_ENVIRONMENT when the environment names no folder. */
th_result th_baseline_path(const char *name, char *path, th_error *err);

/* ---- the trace ---- */

/* Creates the tracer if there is a path for its file. Returns an exit code. */
int th_run_begin_trace(th_run *run, const char *path);

/* Writes the trace and destroys the tracer. Does not write it if the command failed before it had a result; a result
 * that could not be written does not count as such a failure. code: the command's exit code. Returns the combined exit
 * code. */
int th_run_end_trace(th_run *run, const char *path, int code);

/* ---- the end ---- */

/* Flushes standard output, the last chance to notice a full disk. Returns an exit code. */
int th_output_finish(void);

#endif
