/* --trace: writes a file with what ran when on which thread. */
#ifndef TH_CLI_TRACING_H
#define TH_CLI_TRACING_H

#include "options.h"

/* Creates options->tracer where --trace is given. Returns an exit code. */
int th_tracing_begin(th_options *options, const th_command *command);

/* Writes the file and destroys the tracer. Does not write it if the command failed before it had a result; a result
 * that could not be written does not count as such a failure. code: the command's exit code. Returns the combined exit
 * code. */
int th_tracing_end(const th_options *options, int code);

#endif
