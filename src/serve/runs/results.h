/* The folder of results: its file names, and the results that an earlier server process has left. */
#ifndef TH_SERVE_RUNS_RESULTS_H
#define TH_SERVE_RUNS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

enum { TH_RESULT_KIND = 16, TH_RESULT_STARTED = 24, TH_RESULT_NAME = 64 };

/* The file name of a run, without .json or .html: scale-20260131T120000Z-7 for run 7. started: 2026-01-31T12:00:00Z. */
typedef struct th_result_name {
    char text[TH_RESULT_NAME];
} th_result_name;
th_result_name th_result_name_of(const char *kind, const char *started, uint32_t id);

typedef struct th_result_entry {
    char kind[TH_RESULT_KIND], started[TH_RESULT_STARTED];
    th_result_name name;
    uint32_t id;          /* the run's id at that time */
    int document, report; /* descriptors, for the caller to close; report may be -1 */
    bool is_partial;      /* the run was interrupted */
} th_result_entry;

#define TH_RESULT_BYTES (32 << 20) /* maximum size of a document */

/* Opens a regular file of at most TH_RESULT_BYTES that is not a link. Returns -1 and a reason on failure. */
int th_result_open(int folder, const char *file, const char **out_why);

/* Reads the newest results of a folder, sorted from old to new; returns how many. kinds: ends with NULL. Only regular
 * files with valid names of these kinds; logs incomplete results and skips them. */
uint32_t th_results_read(const char *folder, const char *const *kinds, th_result_entry *out, uint32_t most);

#endif
