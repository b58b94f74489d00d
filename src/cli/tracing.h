/* --trace: what ran when on which thread, in a file. */
#ifndef TH_CLI_TRACING_H
#define TH_CLI_TRACING_H

#include "options.h"

/* Makes options->tracer where --trace is given. Returns an exit code. */
int th_tracing_begin(th_options *options, const th_command *command);

/* Writes the file, unless the command gave up before it had a result (one that could not be written is no reason not to
 * write this), and destroys the tracer. code: the command's. Returns the exit code of both. */
int th_tracing_end(const th_options *options, int code);

#endif
