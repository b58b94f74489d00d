/* A crowd that ticks until it is stopped, and an HTTP server to monitor and control it.
 *
 * Does not parse a command line. Prints one line on standard output when it is ready, its address, and logs to standard
 * error. */
#ifndef THRONG_SERVE_SERVER_H
#define THRONG_SERVE_SERVER_H

#include <serve/log.h>
#include <serve/model_registry.h>
#include <serve/settings.h>

/* Strings and functions are borrowed. */
typedef struct th_server_desc {
    const char *listen;       /* "127.0.0.1:8347" */
    const char *token_file;   /* NULL: no token */
    const char *const *hosts; /* additional Host headers to accept */
    uint32_t host_count;
    const char *results;          /* a folder for results of runs; NULL: in memory only */
    const char *const *run_kinds; /* commands of this program that a client may run; ends with NULL */
    const char *const *run_fixed; /* options added to each run, names and values alternating; ends with NULL. An
                                     option without a value has its dashes and NULL */
    th_model_registry registry;
    th_controller_desc controller; /* its registry and memory limit are filled in */
    th_settings settings;          /* initial settings */
    th_limits limits;
} th_server_desc;

/* Checks the desc: valid addresses, a token if other machines can reach it, a unique name for each model. Error:
 * TH_ERR_INPUT. */
th_result th_server_check(const th_server_desc *desc, th_error *err);

/* Runs until SIGTERM or SIGINT, then returns TH_OK. TH_ERR_ENVIRONMENT: the address is in use. TH_ERR_INPUT: an
 * unusable token file, folder or model. TH_ERR_USAGE: a clip that no model has. */
th_result th_server_run(const th_server_desc *desc, th_error *err);

#endif
