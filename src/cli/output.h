/* Writes a command's result: as text or one JSON document to standard output, and also to a file, as JSON or in the
 * form that the file's ending selects. */
#ifndef TH_CLI_OUTPUT_H
#define TH_CLI_OUTPUT_H

#include "options.h"

#include <throng/bench/report.h>

#include <jansson.h>
#include <stdio.h>

/* Checks the outputs before a long measurement. Reports an error and returns an exit code when --out, --report, --save,
 * --export or --trace cannot be written, when two of them are the same file, or when one is also an input: a model, an
 * animation, or a result to compare. */
int th_output_probe(const th_options *options);

/* A result in all its forms; only the requested ones are made. The functions return NULL or false when out of memory.
 */
typedef struct th_output {
    json_t *(*document)(const void *ctx);
    int digits;                                 /* of a real number in the document */
    bool (*print)(const void *ctx, FILE *file); /* the text form */
    /* Other forms for --out, chosen by the file's ending; both NULL if the command has JSON only. */
    bool (*csv)(const void *ctx, FILE *file);
    bool (*markdown)(const void *ctx, FILE *file);
    /* The page for --report; NULL if the command has none. command: the command line that made the result. */
    bool (*page)(const void *ctx, const char *command, FILE *file);
} th_output;

/* Writes the result as the options ask. Continues after a failed output, because the measurement took long: reports
 * each failure and returns the first exit code. */
int th_output_result(const th_options *options, const th_output *output, const void *ctx);

/* Reports each failed entry. Returns TH_EXIT_CHECK if there are any, else TH_EXIT_GOOD. */
int th_complain_of_failures(const th_report *report);

/* Flushes standard output, the last chance to notice a full disk. Returns an exit code. */
int th_output_finish(void);

#endif
