/* The result of a measurement: a row for each thing that was measured, and the conditions.
 *
 * The document follows Google Benchmark's schema, so that its compare.py and the trackers that read it work on ours: an
 * "iteration" row for each repetition, then "aggregate" rows over them. Times are those of one iteration, which is one
 * frame of the whole crowd (or one call of th_jobs_for), in the row's time_unit. cpu_time is that of all threads. */
#ifndef THRONG_BENCH_REPORT_H
#define THRONG_BENCH_REPORT_H

#include <throng/bench/context.h>
#include <throng/bench/interference.h>
#include <throng/bench/stats.h>
#include <throng/core/api.h>
#include <throng/core/error.h>
#include <throng/core/text_format.h>

TH_API_BEGIN

/* Other programs that use more than this, in CPUs, are worth a word. */
#define TH_REPORT_EXTERNAL_CPU_LOAD 0.05

/* Fewer repetitions than these are, too: Google Benchmark's compare.py asks for as many, for the same test of Mann and
 * Whitney. */
#define TH_REPORT_MIN_REPETITIONS 9

/* Processes that can take part in one report. */
enum { TH_REPORT_MAX_PROCESSES = 64 };

typedef struct th_row {
    char name[64];
    const char *time_unit; /* "ns", "us" or "ms" in the document */
    uint32_t threads;
    uint64_t characters;               /* in one iteration; 0 where there are none */
    uint64_t bones;                    /* palette entries of all of them */
    uint32_t iterations;               /* in one repetition */
    uint32_t iterations_timed_at_once; /* all of them, or 1: between two looks at the clock */
    th_samples real_ns;                /* of one iteration; a sample for each repetition */
    th_samples cpu_ns;
    th_samples core_clock_ns; /* of the core meanwhile, as th_core_clock_ns of core_clock.h; none: not known */
    /* Who took the samples: those from ends[p - 1] (or 0) to ends[p] are of process p. */
    uint32_t ends[TH_REPORT_MAX_PROCESSES], process_count;
    bool checked;           /* the palettes were held against the reference: */
    double max_error;       /* scene units; NaN where it does not apply */
    bool overrides;         /* the interpolation is not as the file says, and how far the palettes are from that is */
    double error_vs_source; /* scene units */
    uint64_t palette_hash;
    bool moving;       /* the palettes of two frames differ */
    char failure[256]; /* why the check failed, and nothing was timed; "" when all is well */
    bool skipped;      /* nothing was to be checked or timed here, and `failure` says why: that is nobody's fault */
    json_t *own;       /* further fields of these rows, or NULL */
    json_t *once;      /* further fields of the row of means alone, too large to repeat; or NULL */
} th_row;

typedef struct th_report {
    th_context context;
    json_t *scene;   /* goes into the context: what was animated */
    json_t *picture; /* likewise: what was drawn, how large, by whom; or NULL */
    th_row *rows;
    uint32_t row_count;
    th_interference interference;
    uint32_t process_count; /* that took part, one after the other */
    uint64_t repetition_ns; /* that a repetition was to take; 0: not said */
    uint32_t iterations;    /* that it was to have; likewise */
    double precision;       /* that all medians were to be known to; 0 where the number of repetitions was given */
    bool is_dry_run;        /* nothing was timed */
} th_report;

/* Reads the context and makes room for the samples of `rows` rows, all zero otherwise. */
th_result th_report_init(th_report *report, uint32_t rows, uint32_t repetitions, th_error *err);
void th_report_fini(th_report *report);

/* The whole document, and its "context" alone. NULL when memory is out. */
json_t *th_report_json(const th_report *report);
json_t *th_report_context_json(const th_report *report);

/* The document as a table for other programs, a row for each entry that says all there is to say, with the conditions
 * in columns of their own. Times in nanoseconds. False when memory is out. */
bool th_report_csv(const th_report *report, FILE *file);

/* What was animated and on what machine, to stand above the figures. */
void th_report_print_conditions(const th_report *report, th_format format, FILE *file);

/* A th_report.picture, added to a line. */
void th_report_add_picture(const json_t *picture, char *line, size_t size);

/* Which palettes were right, for a rehearsal, which has no figures. False when memory is out. */
bool th_report_print_dry_run(const th_report *report, th_format format, FILE *file);

/* What makes the figures doubtful, as texts of one sentence; NULL when memory is out. And the same, to stand below
 * them. */
json_t *th_report_warnings(const th_report *report);
void th_report_print_warnings(const th_report *report, th_format format, FILE *file);

/* The first row whose check failed, or NULL. */
const th_row *th_report_failure(const th_report *report);

/* The first row that was left out, or NULL. */
const th_row *th_report_skipped(const th_report *report);

TH_API_END

#endif
