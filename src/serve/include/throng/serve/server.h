/* A crowd that ticks until it is told to stop, and a server through which it is watched and steered.
 *
 * Knows no command line and prints nothing but one line, its address, on standard output when it is ready, and its log
 * on standard error. */
#ifndef THRONG_SERVE_SERVER_H
#define THRONG_SERVE_SERVER_H

#include <throng/core/api.h>
#include <throng/serve/log.h>
#include <throng/serve/model_registry.h>
#include <throng/serve/simulation_desc.h>
#include <throng/serve/snapshot_renderer.h>

TH_API_BEGIN

/* Texts and functions are borrowed. */
typedef struct th_server_desc {
    const char *listen;       /* "127.0.0.1:8347" */
    const char *token_file;   /* NULL: the environment variable THRONG_TOKEN, where it is set */
    const char *const *hosts; /* further names in Host that are ours */
    uint32_t host_count;
    const char *results;          /* a folder for documents of runs; NULL: they are kept in memory only */
    const char *const *run_kinds; /* commands of this program that a client may run; NULL at the end */
    const char *const *run_fixed; /* options of each, their names and values in turn; NULL at the end */
    double requests_per_s;        /* of one address; 0: TH_SERVER_REQUESTS_PER_S, and loopback has no limit */
    th_model_registry registry;
    th_controller_desc controller; /* its registry and memory limit are filled in */
    th_settings settings;          /* to begin with */
    th_snapshot_renderer renderer; /* for pictures */
    th_limits limits;
    th_log_level log_level;
    th_log_format log_format;
} th_server_desc;

#define TH_SERVER_REQUESTS_PER_S 100.0

/* Whether the desc makes sense: an address that can be understood, a token where others than this machine can reach it,
 * a name for each model. TH_ERR_INPUT. */
th_result th_server_check(const th_server_desc *desc, th_error *err);

/* Until SIGTERM or SIGINT, which is TH_OK. TH_ERR_ENVIRONMENT when the address is taken; TH_ERR_INPUT for a token file,
 * a folder or a model that cannot be used; TH_ERR_USAGE for a clip that no model has. */
th_result th_server_run(const th_server_desc *desc, th_error *err);

TH_API_END

#endif
