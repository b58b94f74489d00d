/* The folder of results: what files are called, and which of them an earlier life of the server has left. */
#ifndef TH_SERVE_RUNS_RESULTS_H
#define TH_SERVE_RUNS_RESULTS_H

#include <stdint.h>

enum { TH_RESULT_KIND = 16, TH_RESULT_STARTED = 24, TH_RESULT_NAME = 64 };

/* What a run's files are called, but for .json and .html: scale-20260131T120000Z-7 for the seventh run.
 * started: 2026-01-31T12:00:00Z. */
typedef struct th_result_name {
    char text[TH_RESULT_NAME];
} th_result_name;
th_result_name th_result_name_of(const char *kind, const char *started, uint32_t id);

typedef struct th_result_entry {
    char kind[TH_RESULT_KIND], started[TH_RESULT_STARTED];
    th_result_name name;
    uint32_t id;          /* that it had */
    int document, report; /* descriptors for the caller to close; no report: -1 */
} th_result_entry;

#define TH_RESULT_BYTES (32 << 20) /* of a document, at most */

/* A regular file of at most TH_RESULT_BYTES, behind no link; -1 and a word on why where it is none. */
int th_result_open(int folder, const char *file, const char **out_why);

/* The newest of a folder, the oldest of them first; returns how many. Regular files of such names and of these kinds
 * only, NULL at the end; those that are no whole result are left out with a line in the log. */
uint32_t th_results_read(const char *folder, const char *const *kinds, th_result_entry *out, uint32_t most);

#endif
