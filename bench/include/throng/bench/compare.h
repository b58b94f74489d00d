/* Compares two result files: which entries became slower or faster by more than chance, and whether palettes or errors
 * changed. docs/reference/compare.md explains the method and how small a change it detects.
 *
 * Times. On one thread, the CPU time of a repetition, which other programs affect far less than wall time. With more
 * threads, and for drawn frames, wall time, which includes waiting. Where both result files have the core clock, times
 * are scaled to the old one's clock, so that a faster clock on another day is no change.
 *
 * Units. Processes of one build differ by more than the repetitions within one, because memory is laid out differently
 * (T. Kalibera, R. Jones, Rigorous Benchmarking in Reasonable Time, 2013). So each process is one sample: a low
 * quantile of its repetitions (TH_COMPARE_QUANTILE), since interference makes them longer, never shorter. With too few
 * processes on either side the repetitions are the samples, and a change must exceed what processes may differ by.
 *
 * Baselines. Some entries measure the machine or other code, not this program: limit/, scale/memory_, and the jobs/
 * entries of other schedulers. They are never a regression.
 *
 * Changes. A change must be larger than the threshold and the noise floor, and the p value of the rank test must be
 * below TH_COMPARE_ALPHA. p is corrected for the number of entries (S. Holm, A Simple Sequentially Rejective Multiple
 * Test Procedure, 1979): TH_COMPARE_ALPHA is the risk that any entry of two result files of the same code is called
 * changed. */
#ifndef THRONG_BENCH_COMPARE_H
#define THRONG_BENCH_COMPARE_H

#include <throng/bench/result_file.h>
#include <throng/core/api.h>

TH_API_BEGIN

#define TH_COMPARE_ALPHA 0.05

/* MIN: each side needs this many processes to compare processes. GOOD: enough to detect small changes. NOISE: what
 * processes may differ by, the floor below MIN. */
enum { TH_COMPARE_MIN_PROCESSES = 5, TH_COMPARE_GOOD_PROCESSES = 12 };
#define TH_COMPARE_PROCESS_NOISE 0.08

/* Noise floor for each CPU of external load by which the two results differ: programs share caches, so even CPU times
 * change. */
#define TH_COMPARE_EXTERNAL_LOAD_NOISE 0.06

/* A process counts as this quantile of its repetitions. */
#define TH_COMPARE_QUANTILE 0.05

/* Errors that grow by more than this count as worse. Smaller growth may come from another C library's last digits. */
#define TH_COMPARE_ERROR_GROWTH 0.01

typedef enum th_verdict {
    TH_VERDICT_SAME = 0,   /* no change beyond the threshold, the noise floor and chance */
    TH_VERDICT_REGRESSION, /* slower */
    TH_VERDICT_GAIN,       /* faster */
    TH_VERDICT_UNKNOWN,    /* too few units to find any change significant */
    TH_VERDICT_UNTIMED,    /* no times, or times of 0, in either result */
    TH_VERDICT_BASELINE,   /* measures the machine or other code: shown, never a change */
    TH_VERDICT_ONLY_OLD,   /* the entry is in one result only */
    TH_VERDICT_ONLY_NEW,
    TH_VERDICT_COUNT,
} th_verdict;

typedef enum th_unit {
    TH_UNIT_REPETITION = 0,
    TH_UNIT_PROCESS,
} th_unit;

/* One entry. Values that are unknown are NaN. */
typedef struct th_change {
    const char *name; /* borrowed from a result file */
    th_verdict verdict;
    th_unit unit;
    uint32_t counts[2];    /* number of units in old and new */
    double old_ns, new_ns; /* medians over the units, for one iteration */
    double change;         /* new_ns / old_ns - 1 */
    th_interval interval;  /* confidence interval of the change, as th_ratio_interval */
    double p;              /* of the rank test of the units, corrected by Holm; NaN for a baseline */
    /* Half the interval plus other expected differences of the results; a smaller change is ignored. NaN for a
     * baseline. */
    double floor;
    /* Wrong or changed palettes, or a larger error: a failure, whatever the time. "": none. */
    char problem[256];
} th_change;

typedef struct th_comparison {
    const th_result_file *old_results, *new_results; /* borrowed */
    double threshold;
    th_change *changes; /* in the order of the new result, then what only the old one has */
    uint32_t count;
    uint32_t verdicts[TH_VERDICT_COUNT], problems; /* how many of each */
    json_t *differences;                           /* texts: differing conditions; empty unless forced */
    json_t *warnings;                              /* texts: reasons to doubt the verdicts */
} th_comparison;

typedef struct th_compare_desc {
    const th_result_file *old_results, *new_results; /* required; must outlive the comparison */
    const char *filter;                              /* extended regular expression, valid; NULL: all entries */
    double threshold;                                /* 0.025: 2.5 %; 0: only the noise floor */
    bool force;                                      /* compare even if conditions differ */
} th_compare_desc;

/* TH_ERR_INPUT when the result files have no entry in common, or were measured under different conditions: scene,
 * picture or threads, and, where both have times, machine, compiler, flags or instruction set. */
th_result th_compare(const th_compare_desc *desc, th_comparison *out, th_error *err);
void th_comparison_fini(th_comparison *comparison);

/* Whether any entry became slower or wrong. */
bool th_comparison_is_bad(const th_comparison *comparison);

/* "regression" etc. Static storage. */
const char *th_verdict_name(th_verdict verdict);

/* As JSON (NULL when memory is out), as CSV, and as text for people. False when memory is out. */
json_t *th_comparison_json(const th_comparison *comparison);
bool th_comparison_csv(const th_comparison *comparison, FILE *file);
bool th_comparison_print(const th_comparison *comparison, th_format format, FILE *file);

TH_API_END

#endif
