/* A result file: a measurement read back from JSON. It may be ours, or any that Google Benchmark wrote; then our own
 * fields are unknown. Of ours only those of this version are read (TH_SCHEMA_VERSION).
 *
 * Files are untrusted. Invalid ones are rejected with line and column if they are no JSON, else with the row and the
 * field. */
#ifndef THRONG_BENCH_RESULT_FILE_H
#define THRONG_BENCH_RESULT_FILE_H

#include <bench/report.h>

enum { TH_RESULT_FILE_MAX_BYTES = 1 << 28 };

/* All repetitions of one entry. */
typedef struct th_result_file_entry {
    const char *name;           /* "run_name" if present, else "name" */
    uint32_t threads;           /* 0: unknown, for a skipped entry */
    uint64_t characters, bones; /* in an iteration; 0: unknown */
    /* One sample a repetition, of one iteration, as in th_row. Empty after a dry run and where the entry failed. */
    th_samples real_ns, cpu_ns, queued_ns, core_clock_ns, start_ns, order;
    uint32_t ends[TH_REPORT_MAX_PROCESSES], process_count; /* as in th_row; at least 1 if there are samples */
    double max_error, error_vs_source;                     /* NaN: unknown */
    double error_px_p99, error_px_max;                     /* error on screen, pixels; NaN: unknown */
    double bytes;                                          /* memory that it took; NaN: unknown */
    double visible;                                        /* characters; NaN: unknown */
    const char *palette_hash, *failure;                    /* NULL: none */
} th_result_file_entry;

typedef struct th_result_file {
    char name[256];        /* of the file, for messages; truncated to fit */
    json_t *document;      /* owns all texts */
    const json_t *context; /* an object */
    bool is_ours;
    th_result_file_entry *entries; /* in the order of the file, names are unique */
    uint32_t entry_count;
    json_t *index_by_name; /* object: name to index of the entry */
} th_result_file;

/* TH_ERR_INPUT when the file cannot be read or is no result, TH_ERR_LIMIT beyond TH_RESULT_FILE_MAX_BYTES. */
th_result th_result_file_read(const char *path, th_result_file **out, th_error *err);

/* The same from memory. name: the source of the text, for messages. */
th_result th_result_file_parse(const char *text, size_t size, const char *name, th_result_file **out, th_error *err);

void th_result_file_free(th_result_file *results);

/* NULL when there is no entry of that name. */
const th_result_file_entry *th_result_file_find(const th_result_file *results, const char *name);

/* Merges another process's result into a report of the same entries: samples, the largest error, failures. An entry
 * whose palettes differ from the report's fails. TH_ERR_INPUT when entries are missing or the result is partial,
 * TH_ERR_LIMIT beyond TH_REPORT_MAX_PROCESSES. */
th_result th_result_file_merge_into(const th_result_file *results, th_report *report, th_error *err);

/* The same into a result file, as further processes of it. */
th_result th_result_file_append(th_result_file *results, const th_result_file *more, th_error *err);

#endif
