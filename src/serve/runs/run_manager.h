/* Measuring runs: this program as a child process, one at a time, with its document kept for whoever asks. */
#ifndef TH_SERVE_RUNS_RUN_MANAGER_H
#define TH_SERVE_RUNS_RUN_MANAGER_H

#include "simulation/simulation_controller.h"

#include <throng/serve/model_registry.h>

typedef struct th_run_manager th_run_manager;

enum { TH_RUNS_KEPT = 16 }; /* older ones are forgotten; their files stay */

typedef struct th_run_manager_desc {
    const char *const *kinds; /* commands that can be run: "scale", ...; NULL at the end; borrowed */
    const char *results; /* a folder; every finished document and its report go there as files, whole or not at all, and
                            the newest that an earlier life has left there are runs as well; NULL: none */
    const th_model_registry *registry;
    th_controller *controller; /* its crowd is held while a run that wants it is on */
    th_limits limits;
    const char *const *fixed; /* further options of each, their names and values in turn; NULL at the end; borrowed */
} th_run_manager_desc;

/* Any thread may call what follows; none waits for a child. */
th_result th_run_manager_create(const th_run_manager_desc *desc, th_run_manager **out, th_error *err);
void th_run_manager_destroy(th_run_manager *manager); /* kills the child */

typedef enum th_run_start_status {
    TH_RUN_STARTED,
    TH_RUN_REJECTED, /* err says why: a kind or an option that does not exist or makes no sense; or TH_ERR_MEMORY or
                       TH_ERR_ENVIRONMENT, and nothing is wrong with it */
    TH_RUN_BUSY,     /* another one is on */
} th_run_start_status;

/* request: {"kind": "scale", "options": {...}, "pause": true}. pause: whether the crowd is held meanwhile; the default.
 * options: those of the command that say what to measure, under their long names with "_" for "-"; models are names. */
th_run_start_status th_run_manager_start(th_run_manager *manager, const json_t *request, uint32_t *out_id,
                                         th_error *err);

/* False when no such run is on. */
bool th_run_manager_cancel(th_run_manager *manager, uint32_t id);

/* {"id", "kind", "state": "running" | "done" | "failed" | "cancelled", "options", "pause", "started", "earlier",
 * "elapsed_s", "progress", "doing", "exit_code", "message", "result_bytes", "report_bytes", "file"}; JSON null when
 * there is no such run. */
json_t *th_run_manager_run_json(th_run_manager *manager, uint32_t id);
json_t *th_run_manager_runs_json(th_run_manager *manager);   /* an array, the newest first */
json_t *th_run_manager_active_json(th_run_manager *manager); /* the one that is on, or null */

typedef enum th_run_file {
    TH_RUN_RESULT, /* JSON */
    TH_RUN_REPORT, /* HTML */
} th_run_file;

/* What a run wrote, malloc'd; NULL when there is none. */
char *th_run_manager_read(th_run_manager *manager, uint32_t id, th_run_file which, size_t *out_size);

typedef struct th_run_counts {
    uint64_t active, done, failed, cancelled;
} th_run_counts;
th_run_counts th_run_manager_counts(th_run_manager *manager);

/* The arguments that a request comes to, without the program's name: for tests. NULL at the end; the caller frees each
 * and the array. */
char **th_run_arguments(const th_run_manager_desc *desc, const json_t *request, th_error *err);

#endif
