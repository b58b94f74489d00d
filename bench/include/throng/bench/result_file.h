/* A results: the result of a measurement, read back from its file. Ours, or any that Google Benchmark wrote as JSON;
 * then what only we write is not known.
 *
 * Files may come from anywhere. What is not as it must be is refused, with the line and column where that is no JSON,
 * and with the row and the field where it is. */
#ifndef THRONG_BENCH_RESULT_FILE_H
#define THRONG_BENCH_RESULT_FILE_H

#include <throng/bench/report.h>
#include <throng/core/api.h>

TH_API_BEGIN

enum { TH_RESULT_FILE_MAX_BYTES = 1 << 28 };

/* Repetitions of one thing. */
typedef struct th_result_file_entry {
    const char *name;           /* "run_name" where there is one */
    uint32_t threads;           /* 0: not known, of what was skipped */
    uint64_t characters, bones; /* in an iteration; 0: not known */
    /* One sample a repetition, of one iteration, as in th_row. None after a dry run, and where the entry failed. */
    th_samples real_ns, cpu_ns, core_clock_ns;
    uint32_t ends[TH_REPORT_MAX_PROCESSES], process_count; /* as in th_row, but at least 1 where there are samples */
    double max_error, error_vs_source;                     /* NaN: not known */
    const char *palette_hash, *failure;                    /* NULL: none */
} th_result_file_entry;

typedef struct th_result_file {
    char name[256];        /* of the file, for messages; cut to fit */
    json_t *document;      /* the texts belong to it */
    const json_t *context; /* an object */
    bool is_ours;
    th_result_file_entry *entries; /* in the order of the file, each name once */
    uint32_t entry_count;
    json_t *index_by_name; /* index of each entry, by name */
} th_result_file;

/* TH_ERR_INPUT for what cannot be read or is no result, TH_ERR_LIMIT beyond TH_RESULT_FILE_MAX_BYTES. */
th_result th_result_file_read(const char *path, th_result_file **out, th_error *err);

/* name: of what the text comes from. */
th_result th_result_file_parse(const char *text, size_t size, const char *name, th_result_file **out, th_error *err);

void th_result_file_free(th_result_file *results);

/* NULL where there is none of that name. */
const th_result_file_entry *th_result_file_find(const th_result_file *results, const char *name);

/* Adds what another process measured to a report of the same entries: samples, the worst error, failures. Fails an
 * entry whose palettes differ from the report's. TH_ERR_INPUT when entries are missing, TH_ERR_LIMIT beyond
 * TH_REPORT_MAX_PROCESSES. */
th_result th_result_file_merge_into(const th_result_file *results, th_report *report, th_error *err);

TH_API_END

#endif
