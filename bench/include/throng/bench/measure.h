/* Times things against each other: many short repetitions, in rounds, so that a slow moment of the machine hits all.
 *
 * In each round every subject has one repetition, in random order: a randomized complete block design (R. Fisher, The
 * Design of Experiments, 1935), so that nobody always follows the same neighbour, and a drift of the machine falls on
 * all alike.
 *
 * Rounds end when the median of every subject is known well enough, or the time is up. All subjects have the same
 * number of rounds, whether they agree or not has no say in it, and every sample counts: docs/notes/measuring.md says
 * why that is honest, and what it costs. */
#ifndef THRONG_BENCH_MEASURE_H
#define THRONG_BENCH_MEASURE_H

#include <throng/bench/report.h>
#include <throng/core/api.h>

TH_API_BEGIN

/* What an iteration says that it took. */
typedef struct th_lap {
    uint64_t real_ns, cpu_ns;
} th_lap;

typedef struct th_subject {
    void (*before)(void *ctx);              /* before each repetition, not timed; may be NULL */
    void (*run)(void *ctx, uint64_t frame); /* one iteration; frame: never the same number twice in a repetition */
    void (*after)(void *ctx);               /* after each repetition, not timed; may be NULL, may fail the row */
    void *ctx;
    th_row *row; /* gets the samples and the number of iterations; rows with a failure are skipped */
} th_subject;

/* How far it has come. */
typedef struct th_measure_state {
    const char *name; /* of the first subject */
    uint32_t comparison, comparisons;
    uint32_t rounds;
    double precision; /* th_median_ci_half_width of the least known median, when it was last looked at; NaN: not yet */
} th_measure_state;

enum {
    TH_MEASURE_MIN_ROUNDS = TH_REPORT_MIN_REPETITIONS, /* even when the time is up */
    TH_MEASURE_FIRST_CHECK = 15,                       /* rounds before anybody asks how well a median is known */
    TH_MEASURE_MAX_ROUNDS = 1000,
};

#define TH_MEASURE_REPETITION_NS 5000000u

typedef struct th_measure_desc {
    /* Rounds, whatever comes of it; 0: for at least min_ns, until the precision is reached or max_ns has passed. */
    uint32_t repetitions;
    double precision;       /* th_median_ci_half_width of every subject, at two looks in a row */
    uint64_t min_ns;        /* for each subject, on average, with all that is not timed; repetitions grow to make it */
    uint64_t max_ns;        /* likewise; 0: no limit but that of the rounds */
    uint32_t iterations;    /* in a repetition; 0: for each subject as many as take repetition_ns */
    uint64_t repetition_ns; /* 0 = TH_MEASURE_REPETITION_NS */
    uint64_t seed;          /* of the order; the same seed gives the same order */
    bool is_dry_run;        /* run everything once, time nothing */
    /* Instead of run, for all subjects, as what is compared is timed alike: an iteration of which only a part counts,
     * and which says how long that took. NULL: run. */
    th_lap (*lap)(void *ctx, uint64_t frame);
    void (*progress)(void *ctx, const th_measure_state *state); /* after each round; may be NULL */
    void *progress_ctx;
} th_measure_desc;

/* th_report_init with room for what is to be measured, and a word on how that was to be. */
th_result th_measure_report(const th_measure_desc *desc, uint32_t rows, th_report *out, th_error *err);

/* Each subject is warmed up first, by runs that find the number of iterations and by a whole repetition; none of them
 * counts. At most TH_MEASURE_MAX_SUBJECTS. */
enum { TH_MEASURE_MAX_SUBJECTS = 256 };
void th_measure(const th_measure_desc *desc, const th_subject *subjects, uint32_t count);

TH_API_END

#endif
