/* Where a command's result goes: text or one JSON document on standard output, and the document in a file as well. */
#ifndef TH_OUTPUT_H
#define TH_OUTPUT_H

#include "options.h"

#include <throng/report.h>

#include <jansson.h>
#include <stdio.h>

/* Complains and returns an exit code when --out or --export cannot be written: better before a long measurement than
 * after it. */
int th_output_probe(const th_options *options);

/* A result in its two forms. Only the one that is wanted is made. */
typedef struct th_output {
    json_t *(*document)(const void *ctx);       /* NULL when memory is out */
    int digits;                                 /* of a real number in it */
    bool (*print)(const void *ctx, FILE *file); /* the text for people; false when memory is out */
} th_output;

/* Writes the result as the options ask for; returns an exit code. */
int th_output_result(const th_options *options, const th_output *output, const void *ctx);

/* Says which entries failed their check; TH_EXIT_CHECK when there are any, else TH_EXIT_GOOD. */
int th_complain_of_failures(const th_report *report);

/* Flushes standard output: the last moment to notice a full disk. Returns an exit code. */
int th_output_finish(void);

#endif
