/* One run of a command: the words that started it, its trace, and what came of it. */
#ifndef TH_CLI_RUN_H
#define TH_CLI_RUN_H

#include <cli/command.h>

#include <throng/runtime/tracer.h>

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

/* Creates the tracer if there is a path for its file. Returns an exit code. */
int th_run_begin_trace(th_run *run, const char *path);

/* Writes the trace and destroys the tracer. Does not write it if the command failed before it had a result; a result
 * that could not be written does not count as such a failure. code: the command's exit code. Returns the combined exit
 * code. */
int th_run_end_trace(th_run *run, const char *path, int code);

#endif
