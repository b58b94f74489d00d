/* Where a command's result goes: text or one JSON document on standard output, and the document, or another form that
 * the file's name asks for, in a file as well. */
#ifndef TH_CLI_OUTPUT_H
#define TH_CLI_OUTPUT_H

#include "options.h"

#include <throng/bench/report.h>

#include <jansson.h>
#include <stdio.h>

/* Complains and returns an exit code when --out, --report, --save, --export or --trace cannot be written, when two of
 * them are one file, or one is a file that is to be read: a model, an animation, a result to compare. Better before a
 * long measurement than after it. */
int th_output_probe(const th_options *options);

/* A result in all its forms. Only what is wanted is made. Functions return NULL or false when memory is out. */
typedef struct th_output {
    json_t *(*document)(const void *ctx);
    int digits;                                 /* of a real number in it */
    bool (*print)(const void *ctx, FILE *file); /* the text for people */
    /* What --out writes when the file's name says so; both NULL where a command knows JSON alone. */
    bool (*csv)(const void *ctx, FILE *file);
    bool (*markdown)(const void *ctx, FILE *file);
    /* What --report writes; NULL where a command has none. command: the line that made the result. */
    bool (*page)(const void *ctx, const char *command, FILE *file);
} th_output;

/* Writes the result as the options ask for. What took long to measure is written wherever it can be: complains of each
 * file that cannot, and returns the first exit code. */
int th_output_result(const th_options *options, const th_output *output, const void *ctx);

/* Says which entries failed their check; TH_EXIT_CHECK when there are any, else TH_EXIT_GOOD. */
int th_complain_of_failures(const th_report *report);

/* Flushes standard output: the last moment to notice a full disk. Returns an exit code. */
int th_output_finish(void);

#endif
