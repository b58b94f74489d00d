/* Measures subjects against each other with many short repetitions.
 *
 * In each round every subject has one repetition, in random order: a randomized complete block design (R. Fisher, The
 * Design of Experiments, 1935). A slow moment or a drift of the machine then affects all subjects alike, and no subject
 * always follows the same neighbour.
 *
 * Rounds end when the median of every subject is precise enough, or when the time is up. All subjects have the same
 * number of rounds, and every sample counts: the rule to stop does not ask whether results agree.
 * docs/notes/measuring.md explains why this is valid, and what it costs. */
#ifndef THRONG_BENCH_MEASURE_H
#define THRONG_BENCH_MEASURE_H

#include <bench/report.h>

#include <signal.h>

/* The time of some iterations. */
typedef struct th_lap {
    uint64_t real_ns, cpu_ns;
} th_lap;

typedef struct th_subject {
    void (*before)(void *ctx); /* before each repetition, not timed; may be NULL */
    /* One iteration. frame: never the same number twice in a repetition. */
    void (*run)(void *ctx, uint64_t frame);
    /* Replaces `run` for this subject, and its clock for ours: runs the frames from `first` on and returns their time.
     * May be NULL, may fail the row. */
    th_lap (*timed_run)(void *ctx, uint64_t first, uint32_t iterations);
    void (*after)(void *ctx); /* after each repetition, not timed; may be NULL, may fail the row */
    /* Not timed. Judges what the iteration `frame` has left, any one of the first repetition, of the last, of one
     * between them and of others, all drawn from row->draws. The repetition is timed in two parts then, each after
     * `before` and with `after`. May be NULL, may fail the row. */
    void (*check)(void *ctx, uint64_t frame);
    void *ctx;
    th_row *row; /* gets the samples and iterations; skipped if it has a failure */
} th_subject;

/* Progress. */
typedef struct th_measure_state {
    const char *name; /* of the first subject */
    uint32_t comparison, comparisons;
    uint32_t rounds;
    /* The largest th_median_ci_half_width of all subjects at the last check; NaN before the first. */
    double precision;
    double done; /* estimated share of the time that has passed, 0 to 1 */
} th_measure_state;

enum {
    TH_MEASURE_MIN_ROUNDS = TH_REPORT_MIN_REPETITIONS, /* even when the time is up */
    TH_MEASURE_FIRST_CHECK = 15,                       /* rounds before the precision is first checked */
    TH_MEASURE_MAX_ROUNDS = 1000,
};

#define TH_MEASURE_REPETITION_NS 5000000u

typedef struct th_measure_desc {
    /* Number of rounds. 0: run until the precision is reached or max_ns has passed. */
    uint32_t repetitions;
    double precision; /* th_median_ci_half_width that all subjects must reach, in two checks in a row */
    /* Average for each subject, including what is not timed; 0: only TH_MEASURE_MAX_ROUNDS limits it. */
    uint64_t max_ns;
    uint32_t iterations;    /* in a repetition; 0: each subject has as many as take repetition_ns */
    uint64_t repetition_ns; /* 0 = TH_MEASURE_REPETITION_NS */
    uint64_t seed;          /* of the order; the same seed gives the same order */
    uint64_t check_seed;    /* of what is checked; 0: from entropy */
    bool is_dry_run;        /* run everything once, time nothing */
    /* Replaces `run` for all subjects: an iteration of which only a part counts, and that returns the time of that
     * part. NULL: `run` is timed. */
    th_lap (*lap)(void *ctx, uint64_t frame);
    void (*progress)(void *ctx, const th_measure_state *state); /* after each round; may be NULL */
    void *progress_ctx;
    /* Not 0: the measurement ends after the current round, or while it warms up. A signal handler may set it. May be
     * NULL. */
    const volatile sig_atomic_t *stop;
} th_measure_desc;

/* Initializes a report with room for the samples, and notes in it how they are measured. */
th_result th_measure_report_init(const th_measure_desc *desc, uint32_t rows, th_report *out, th_error *err);

/* Runs frames from `first` on and returns their time, by the subject's clock or by ours. */
th_lap th_measure_frames(const th_measure_desc *desc, const th_subject *subject, uint64_t first, uint32_t iterations);

/* Warms up each subject first: runs that find the number of iterations, then a whole repetition. None of them counts.
 * count: at most TH_MEASURE_MAX_SUBJECTS. Returns false if `stop` ended it; rows without a sample are then skipped. */
enum { TH_MEASURE_MAX_SUBJECTS = 256 };
bool th_measure(const th_measure_desc *desc, const th_subject *subjects, uint32_t count);

#endif
