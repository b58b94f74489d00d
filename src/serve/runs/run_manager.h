/* Runs benchmarks: this program as a child process, one at a time. Keeps the results. */
#ifndef TH_SERVE_RUNS_RUN_MANAGER_H
#define TH_SERVE_RUNS_RUN_MANAGER_H

#include "simulation/simulation_controller.h"

#include <core/arena.h>
#include <serve/model_registry.h>

typedef struct th_run_manager th_run_manager;

enum { TH_RUNS_KEPT = 16 }; /* older runs are dropped; their files stay */

typedef struct th_run_manager_desc {
    const char *const *kinds; /* commands that can be run: "scale", ...; ends with NULL; borrowed */
    const char *results;      /* folder for documents and reports, written atomically. The newest results of earlier
                                 processes there are listed as runs. NULL: none */
    const th_model_registry *registry;
    th_controller *controller; /* its crowd is held during a run that requests it */
    th_limits limits;
    struct th_memory_budget *memory; /* that of limits is what is left there for a run */
    const char *const *fixed; /* options added to each run, names and values alternating; ends with NULL; borrowed */
} th_run_manager_desc;

/* The functions below may be called from any thread; none waits for a child. */
th_result th_run_manager_create(const th_run_manager_desc *desc, th_run_manager **out, th_error *err);
void th_run_manager_destroy(th_run_manager *manager); /* kills the child */

typedef enum th_run_start_status {
    TH_RUN_STARTED,
    TH_RUN_REJECTED, /* err says why: an unknown kind, an unknown or invalid option; or TH_ERR_MEMORY or
                        TH_ERR_ENVIRONMENT for a valid request */
    TH_RUN_BUSY,     /* another run is active */
} th_run_start_status;

/* request: {"kind": "scale", "options": {...}, "pause": true}. pause: whether to hold the crowd during the run; true by
 * default. options: the command's options that say what to measure, with "_" for "-" in long names; models are registry
 * names. */
th_run_start_status th_run_manager_start(th_run_manager *manager, const json_t *request, uint32_t *out_id,
                                         th_error *err);

/* Returns false if this run is not active. */
bool th_run_manager_cancel(th_run_manager *manager, uint32_t id);

/* Returns {"id", "kind", "state": "running" | "done" | "failed" | "cancelled", "options", "pause", "started",
 * "earlier", "elapsed_s", "progress", "doing", "exit_code", "message", "result_bytes", "report_bytes", "file"}, or JSON
 * null if there is no such run. id 0: the active one. */
json_t *th_run_manager_run_json(th_run_manager *manager, uint32_t id);
json_t *th_run_manager_runs_json(th_run_manager *manager); /* an array, newest first */

typedef enum th_run_file {
    TH_RUN_RESULT, /* JSON */
    TH_RUN_REPORT, /* HTML */
} th_run_file;

/* The output of a run, malloc'd; NULL if there is none. */
char *th_run_manager_read(th_run_manager *manager, uint32_t id, th_run_file which, size_t *out_size);

typedef struct th_run_counts {
    uint64_t active, done, failed, cancelled;
} th_run_counts;
th_run_counts th_run_manager_counts(th_run_manager *manager);

/* Of the models of a run, open until its process has ended. */
typedef struct th_run_folders {
    int files[TH_SETTINGS_MODELS + 1];
    int count;
} th_run_folders;

/* The command line of a request, in the arena: the program, the command and its options. Ends with NULL, and has room
 * for the two files that a run writes. Adds to the folders, which the caller closes in any case. */
const char **th_run_arguments(const th_run_manager_desc *desc, const json_t *request, th_arena *arena,
                              th_run_folders *folders, th_error *err);

#endif
