/* Compares two result files: which entries became slower or faster by more than chance, which did not, and whether
 * palettes or errors changed. docs/reference/compare.md explains the method and how often it is right.
 *
 * Processes. Processes of one build differ by more than the repetitions within one, because memory is laid out
 * differently (T. Kalibera, R. Jones, Rigorous Benchmarking in Reasonable Time, 2013). So each process is one sample of
 * each estimator, and intervals and tests are Student's over processes (student.h).
 *
 * Estimators. Users wait for the clock on the wall, so verdicts are of wall time: its median, its mean and the mean of
 * the slowest 5 %, that is of all beyond p95. A fault may be in every iteration or in few; each estimator can fail, and
 * an entry is equivalent only if all of them are. Waits for a CPU that another program had (th_row.queued_ns) are not
 * in it. CPU time judges nothing: it tells whether work or waiting grew. Where both result files have the core clock,
 * times are scaled to the old one's clock, so that a faster clock on another day is no change.
 *
 * Pixels. Entries that state an error on screen are judged by it as well, by its p99 and its maximum: worse if one grew
 * by more than the threshold of the median and TH_COMPARE_PIXELS, better if one shrank as much and neither grew. Equal
 * scenes have equal pixels but for the last digits of another instruction set, so there is no chance in it. Worse is a
 * failure as slower is. It says nothing of results of other scenes, whose pixels are not comparable.
 *
 * Bytes. An entry that states what memory it took must not take more of it by the threshold of the median.
 *
 * Baselines. Some entries measure the machine or other code, not this program: limit/, ceiling/, external/,
 * scale/memory_, and the jobs/ entries of other schedulers. They are never slower or faster. */
#ifndef THRONG_BENCH_COMPARE_H
#define THRONG_BENCH_COMPARE_H

#include <bench/result_file.h>
#include <bench/student.h>

/* The risk that any estimator of any entry of two results of the same code is called slower or faster: p values are
 * corrected for their number (S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979). */
#define TH_COMPARE_ALPHA 0.01

/* MIN: fewer processes on a side decide nothing. Where a process has one of two memory layouts, it is the chance of 2
 * in 2^16 that all of one side have one and all of the other the other. GOOD: enough for most entries. */
enum { TH_COMPARE_MIN_PROCESSES = 8, TH_COMPARE_GOOD_PROCESSES = 12 };

/* What the standard error of the median is multiplied by, unless processes of both sides were measured alternately: the
 * machine of the second result is no longer that of the first. The other estimators get the same variance more. */
#define TH_COMPARE_DRIFT 2.0

/* Of the intervals that decide what is equivalent. Those at 90 % are two one-sided tests at 5 % (D. Schuirmann, A
 * Comparison of the Two One-Sided Tests Procedure and the Power Approach, 1987). */
#define TH_COMPARE_CONFIDENCE 0.9

/* Errors that grow by more than this count as worse. Smaller growth may come from another C library's last digits. */
#define TH_COMPARE_ERROR_GROWTH 0.01

/* Smaller changes of errors on screen are none: nobody sees them. */
#define TH_COMPARE_PIXELS 0.01

/* What a process's repetitions are reduced to. */
typedef enum th_estimator {
    TH_ESTIMATOR_MEDIAN = 0, /* of the wall time of a process's repetitions */
    TH_ESTIMATOR_MEAN,
    TH_ESTIMATOR_WORST, /* the mean of the slowest 5 %, at least of one */
    TH_ESTIMATOR_CPU,   /* the median of CPU time, which has no verdict of its own */
    TH_ESTIMATOR_COUNT,
    TH_ESTIMATORS_JUDGED = TH_ESTIMATOR_CPU, /* those before it */
} th_estimator;

/* SLOWER, FASTER: the corrected p is below TH_COMPARE_ALPHA, and the change is larger than the threshold. EQUIVALENT:
 * the whole interval is within the threshold, or both results are one. INCONCLUSIVE: neither; or the times of one side
 * are gone, or all 0. */
typedef enum th_verdict {
    TH_VERDICT_EQUIVALENT = 0,
    TH_VERDICT_FASTER,
    TH_VERDICT_INCONCLUSIVE,
    TH_VERDICT_SLOWER,
    TH_VERDICT_UNTIMED,  /* a result or the old entry has no times, the new entry failed, or a baseline is 0 */
    TH_VERDICT_BASELINE, /* measures the machine or other code: shown, never a change */
    TH_VERDICT_ONLY_OLD, /* the entry is in one result only */
    TH_VERDICT_ONLY_NEW,
    TH_VERDICT_COUNT,
} th_verdict;

/* Of errors on screen. */
typedef enum th_pixel_verdict {
    TH_PIXELS_UNKNOWN = 0, /* neither result states one, or one of them failed, or the scenes differ */
    TH_PIXELS_EQUAL,
    TH_PIXELS_BETTER,
    TH_PIXELS_WORSE,
    TH_PIXELS_ONLY_OLD, /* the other result states none */
    TH_PIXELS_ONLY_NEW,
    TH_PIXELS_COUNT,
} th_pixel_verdict;

typedef struct th_pixel_change {
    th_pixel_verdict verdict;
    double old_p99, new_p99, old_max, new_max; /* NaN: unknown */
} th_pixel_change;

/* What one estimator says. Values that are unknown are NaN. */
typedef struct th_change_estimate {
    th_verdict verdict;
    double threshold;      /* that of the comparison; ten times of it for the slowest 5 % */
    double old_ns, new_ns; /* of one iteration: geometric means over the processes */
    double change;         /* new_ns / old_ns - 1 */
    th_interval interval;  /* of the change, at TH_COMPARE_CONFIDENCE */
    double p;              /* corrected; NaN for CPU time and baselines, and with too few processes */
    double detectable;     /* the smallest change that would be called one */
    th_log_estimate log_change;
} th_change_estimate;

/* One entry. Slower if any estimator is, equivalent if all are, faster if one is and none is slower by more than its
 * threshold. */
typedef struct th_change {
    const char *name; /* borrowed from a result file */
    th_verdict verdict;
    uint32_t counts[2]; /* processes in old and new, but for those with times of 0 */
    th_change_estimate estimates[TH_ESTIMATOR_COUNT];
    th_pixel_change pixels;
    double bytes[2];        /* of old and new, the most of all processes; NaN: unknown */
    bool has_more_bytes;    /* in new, by more than the threshold: a failure as slower is */
    bool has_same_palettes; /* they were compared, and so were errors */
    /* Wrong or changed palettes, or a larger error: a failure, whatever the time. "": none. */
    char problem[256];
} th_change;

/* What counts as a failure, each with those before it. */
typedef enum th_fail_on {
    TH_FAIL_ON_INCONCLUSIVE = 0,
    TH_FAIL_ON_SLOWER,
    TH_FAIL_ON_WRONG,
    TH_FAIL_ON_COUNT,
} th_fail_on;

typedef enum th_outcome {
    TH_OUTCOME_GOOD = 0,
    TH_OUTCOME_INCONCLUSIVE, /* nothing is slower or wrong, but something may be slower or was not compared at all */
    TH_OUTCOME_BAD,
} th_outcome;

typedef struct th_comparison {
    const th_result_file *old_results, *new_results; /* borrowed */
    double threshold;
    uint32_t looks;
    bool interleaved;
    th_fail_on fail_on;
    th_change *changes; /* in the order of the new result, then what only the old one has */
    uint32_t count;
    uint32_t verdicts[TH_VERDICT_COUNT], problems; /* how many of each */
    uint32_t pixels[TH_PIXELS_COUNT], same_palettes, more_bytes;
    bool identical;      /* both are the same result, in every repetition */
    json_t *differences; /* texts: differing conditions; empty unless forced */
    json_t *warnings;    /* texts: reasons to doubt the verdicts */
} th_comparison;

typedef struct th_compare_desc {
    const th_result_file *old_results, *new_results; /* required; must outlive the comparison */
    const char *filter;                              /* extended regular expression, valid; NULL: all entries */
    double threshold;                                /* of median and mean, above 0; 0.025: 2.5 % */
    /* How often a measurement that goes on until it is decided may be compared: the risks of error are divided by it.
     * 0: once. */
    uint32_t looks;
    bool interleaved; /* processes of both sides were measured alternately */
    th_fail_on fail_on;
    bool force; /* compare even if conditions differ */
} th_compare_desc;

/* TH_ERR_INPUT when the result files have no entry in common of which anything can be compared, or were measured under
 * different conditions: scene, picture or threads, and, where both have times, machine, compiler, flags or instruction
 * set. */
th_result th_compare(const th_compare_desc *desc, th_comparison *out, th_error *err);
void th_comparison_fini(th_comparison *comparison);

/* Of an entry: what its verdict alone says. Of all: pixels and problems count, too. */
th_outcome th_verdict_outcome(const th_comparison *comparison, const th_change *change);
th_outcome th_comparison_outcome(const th_comparison *comparison);

/* "slower" etc. Static storage. */
const char *th_verdict_name(th_verdict verdict);
const char *th_estimator_name(th_estimator estimator);
const char *
th_pixel_verdict_name(th_pixel_verdict verdict); /* "unknown", "equal", "better", "worse", "only in old" ... */

/* Appends the verdict with its reason to a text: "slower: median, mean; CPU time +0.1 %". */
void th_change_describe(const th_change *change, char *out, size_t size);

/* As JSON (NULL when memory is out), as CSV, and as text for people. False when memory is out. */
json_t *th_comparison_json(const th_comparison *comparison);
bool th_comparison_csv(const th_comparison *comparison, FILE *file);
bool th_comparison_print(const th_comparison *comparison, th_output_format format, FILE *file);

#endif
