/* Another program that answers requests: a JSON object in a line on its standard input, one on its standard output.
 *
 * Its standard error is ours. docs/reference/external.md has the protocol. */
#ifndef TH_CLI_EXTERNAL_PROGRAM_H
#define TH_CLI_EXTERNAL_PROGRAM_H

#include <throng/core/error.h>

#include <jansson.h>
#include <stdint.h>

typedef struct th_external_program th_external_program;

/* command: of a shell, borrowed. timeout_s: of each answer. The program is killed when the calling thread ends. */
th_result th_external_program_start(const char *command, double timeout_s, th_external_program **out, th_error *err);

/* Sends a request (NULL: none) and waits for the answer. A program that breaks the protocol is killed, and then every
 * call fails with that reason. *out is NULL on failure, else the caller's. */
th_result th_external_program_ask(th_external_program *program, const json_t *request, json_t **out, th_error *err);

/* CPU time of its process so far, whether it still runs or not. A shell's only command is the shell's process. */
uint64_t th_external_program_cpu_ns(th_external_program *program);

/* Ends its input, kills it if it does not end in a second, and waits for it. NULL: nothing to do. */
void th_external_program_stop(th_external_program *program);

#endif
