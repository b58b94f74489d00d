/* The result of a measurement: a row for each measured entry, and the conditions.
 *
 * The JSON follows Google Benchmark's schema, so that its compare.py and trackers that read it can be used: an
 * "iteration" row for each repetition, then "aggregate" rows. Times are of one iteration, in the row's time_unit. An
 * iteration is one frame of the whole crowd, or one call of th_jobs_for. cpu_time is that of all threads. */
#ifndef THRONG_BENCH_REPORT_H
#define THRONG_BENCH_REPORT_H

#include <bench/context.h>
#include <bench/interference.h>
#include <bench/stats.h>
#include <core/error.h>
#include <core/random.h>
#include <core/text_format.h>
#include <runtime/scene.h>

/* Warn when other programs use more CPUs than this. */
#define TH_REPORT_EXTERNAL_CPU_LOAD 0.05

/* CPU time and wall time of one thread differ by less. */
#define TH_REPORT_ONE_THREAD 0.05

/* An efficiency above this is not believed: what it is held against was disturbed. */
#define TH_REPORT_MAX_EFFICIENCY 1.05

/* Warn of fewer repetitions. Google Benchmark's compare.py requires as many for the same rank test. */
#define TH_REPORT_MIN_REPETITIONS 9

/* The most processes in one report. */
enum { TH_REPORT_MAX_PROCESSES = 192 };

typedef struct th_row {
    char name[64];
    const char *time_unit; /* "ns", "us" or "ms" in the document */
    uint32_t threads;
    /* More than the row's threads work for it: a driver's, or other processes. Its CPU time proves nothing. */
    bool has_helpers;
    uint64_t caller_cpu_ns, others_cpu_ns; /* of the measuring thread in all repetitions, and of the process's others */
    uint64_t characters;                   /* in one iteration; 0: not about characters */
    uint64_t bones;                        /* palette entries of all characters */
    uint32_t iterations;                   /* in one repetition */
    uint32_t iterations_timed_at_once;     /* iterations between two clock readings: all of them, or 1 */
    th_samples real_ns;                    /* one sample a repetition, of one iteration */
    th_samples cpu_ns;
    th_samples queued_ns;     /* of it, ready but without a CPU, which another had (measure.c); empty: unknown */
    th_samples core_clock_ns; /* a step of the core at each repetition (measure.c); empty: unknown */
    /* Of each repetition; empty: unknown. start_ns: since begin_ns of its process; order: its place in its round, from
     * 0. */
    th_samples start_ns, order;
    uint64_t begin_ns; /* th_clock_ns when the report was initialized */
    /* Process p took the samples from ends[p - 1] (or 0) to ends[p]. */
    uint32_t ends[TH_REPORT_MAX_PROCESSES], process_count;
    th_draws draws;   /* of what is checked */
    bool checked;     /* the palettes were compared with the reference: */
    double max_error; /* scene units; NaN where it does not apply */
    /* The interpolation is not that of the file; error_vs_source then compares with the file's. */
    bool overrides;
    double error_vs_source; /* scene units */
    uint64_t palette_hash;
    bool moving;            /* the palettes of two frames differ */
    char failure[256];      /* why the check failed and nothing was timed; "": no failure */
    bool skipped;           /* not applicable here, for the reason in `failure`; not an error */
    const char *impossible; /* a figure that cannot be, so that it is left out; NULL: none */
    json_t *own;            /* additional JSON fields of all rows, or NULL */
    json_t *once;           /* additional fields of the mean row only, too large to repeat; or NULL */
} th_row;

typedef struct th_report {
    th_context context;
    json_t *scene;   /* part of the context: what was animated */
    json_t *picture; /* part of the context: what was drawn, size and renderer; or NULL */
    th_row *rows;
    uint32_t row_count;
    th_interference interference;
    uint32_t process_count; /* run one after the other */
    uint64_t repetition_ns; /* requested length of a repetition; 0: not given */
    uint32_t iterations;    /* requested iterations of a repetition; 0: not given */
    double precision;       /* requested half-width; 0 where repetitions were given */
    uint64_t seed;          /* of the order of repetitions, and of the crowd */
    uint64_t check_seed;    /* of th_row.draws; 0: nothing was checked */
    bool is_dry_run;        /* nothing was timed */
    bool is_partial;        /* interrupted: some entries, repetitions or processes are missing */
    /* Of th_row.own's "counters", where they were asked for: which are not counted, why, and what to do; "": none. */
    char counters_missing[1024];
} th_report;

/* Reads the context and makes room for the samples of `rows` rows, which are zero otherwise. */
th_result th_report_init(th_report *report, uint32_t rows, uint32_t repetitions, th_error *err);
void th_report_fini(th_report *report);

/* All that is drawn to be checked, by any row, comes from this seed; 0: from entropy, so that nobody can foretell it.
 * The document has it, and with the same seed the same is drawn again. */
void th_report_draw_from(th_report *report, uint64_t check_seed);

/* Say why in row->failure, cut to its size: a check failed, or the entry is not applicable here. */
__attribute__((format(printf, 2, 3))) void th_row_fail(th_row *row, const char *format, ...);
#define th_row_skip(row, ...) ((row)->skipped = true, th_row_fail((row), __VA_ARGS__))

/* Makes figures of th_row.own null that cannot be: shares and efficiencies far above 1, negative times. */
void th_row_leave_out(th_row *row);

/* Marks a report whose measurement was interrupted; entries without a sample are skipped. */
void th_report_interrupt(th_report *report);
void th_row_interrupt(th_row *row);

/* The whole JSON document, and only its "context". NULL when memory is out. */
json_t *th_report_json(const th_report *report);
json_t *th_report_context_json(const th_report *report);

/* The document as CSV: a row for each entry, with the conditions in columns. Times in nanoseconds. False when memory is
 * out. */
bool th_report_csv(const th_report *report, FILE *file);

/* Reasons to doubt the result, as one-sentence texts; NULL when memory is out. */
json_t *th_report_warnings(const th_report *report);

/* th_report.scene. NULL when memory is out. scene: made from desc, with any number of instances; NULL when it was not
 * compiled: then it is unknown which clips play exact. */
json_t *th_scene_json(const th_scene *scene, const th_scene_desc *desc);

/* The first row whose check failed, or NULL. */
const th_row *th_report_failure(const th_report *report);

/* The first row that was skipped, or NULL. */
const th_row *th_report_skipped(const th_report *report);

#endif
