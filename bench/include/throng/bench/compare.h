/* What has changed from one record to another: which entries became slower or faster, by more than chance, and whether
 * palettes or errors are others. docs/reference/compare.md says why it is done like this, and how small a change it
 * sees.
 *
 * What a time is. On one thread the CPU time of a repetition, which other programs stretch far less than wall time;
 * with more threads, and of frames that are drawn, wall time, which has the waiting in it. Where both result_files know
 * the pulse of the core, times are those at the pulse of the old one, so that a clock that runs faster on one day than
 * on another is no change.
 *
 * What is compared. Processes of one build differ by more than repetitions within one: memory lies elsewhere (T.
 * Kalibera, R. Jones, Rigorous Benchmarking in Reasonable Time, 2013). So each process counts once, by the quickest
 * twentieth of its repetitions: what disturbs makes them longer, never shorter. With too few processes on either side
 * repetitions stand for themselves, and a change must be larger than what processes may differ by.
 *
 * What counts. Entries by which others are measured tell what the machine can do, not what this program does: limit/,
 * scale/memory_, and of jobs/ what is not our own scheduler. A machine whose memory is slower today is no regression.
 *
 * When it is a change. All of: p of the rank test, corrected for the number of entries by Holm (S. Holm, A Simple
 * Sequentially Rejective Multiple Test Procedure, 1979), below TH_COMPARE_ALPHA, which is then the risk that any entry
 * of two result_files of the same is called changed; more than the threshold; and more than the noise floor. */
#ifndef THRONG_BENCH_COMPARE_H
#define THRONG_BENCH_COMPARE_H

#include <throng/bench/result_file.h>
#include <throng/core/api.h>

TH_API_BEGIN

#define TH_COMPARE_ALPHA 0.05

/* Processes that each side must have to count as such, those that see enough, and what processes may differ by where
 * there are fewer. */
enum { TH_COMPARE_MIN_PROCESSES = 5, TH_COMPARE_GOOD_PROCESSES = 12 };
#define TH_COMPARE_PROCESS_NOISE 0.08

/* What other programs change about times that are otherwise right, for each CPU that they used more of beside one
 * results than beside the other: they share caches. */
#define TH_COMPARE_EXTERNAL_LOAD_NOISE 0.06

/* The part of its repetitions by which a process counts. */
#define TH_COMPARE_QUANTILE 0.05

/* Errors that grow by more than this have grown: the last digits may differ from one C library to the next. */
#define TH_COMPARE_ERROR_GROWTH 0.01

typedef enum th_verdict {
    TH_VERDICT_SAME = 0,   /* nothing that is larger than the threshold, the floor and chance */
    TH_VERDICT_REGRESSION, /* slower */
    TH_VERDICT_GAIN,       /* faster */
    TH_VERDICT_UNKNOWN,    /* too few units: no change could be told from chance, however large */
    TH_VERDICT_UNTIMED,    /* no times, or times of 0, in either results */
    TH_VERDICT_BASELINE,   /* measures the machine, or code of others, so its times are shown and nothing more */
    TH_VERDICT_ONLY_OLD,   /* the entry is in one results only */
    TH_VERDICT_ONLY_NEW,
    TH_VERDICT_COUNT,
} th_verdict;

typedef enum th_unit {
    TH_UNIT_REPETITION = 0,
    TH_UNIT_PROCESS,
} th_unit;

/* An entry. Figures are NaN where there are none. */
typedef struct th_change {
    const char *name; /* of a results */
    th_verdict verdict;
    th_unit unit;
    uint32_t counts[2];    /* units in old and new */
    double old_ns, new_ns; /* medians over the units; of one iteration */
    double change;         /* new_ns / old_ns - 1 */
    th_interval interval;  /* of the change, with TH_CONFIDENCE: as th_ratio_interval */
    double p;              /* of the rank test of the units, by Holm; NaN for a baseline, as is the floor */
    double floor;          /* half the interval, and what else result_files may differ by: a change below is none */
    char problem[256];     /* wrong palettes, others than before, or a larger error: a failure, whatever the time. "" */
} th_change;

typedef struct th_comparison {
    const th_result_file *old_results, *new_results; /* borrowed */
    double threshold;
    th_change *changes; /* in the order of the new results, then what only the old one has */
    uint32_t count;
    uint32_t verdicts[TH_VERDICT_COUNT], problems; /* how many of each */
    json_t *differences; /* texts: conditions in which the result_files differ; none unless forced */
    json_t *warnings;    /* texts: what makes the verdicts doubtful */
} th_comparison;

typedef struct th_compare_desc {
    const th_result_file *old_results, *new_results; /* required; must outlive the comparison */
    const char *filter;                              /* extended regular expression, valid; NULL: all entries */
    double threshold;                                /* 0.025: 2.5 %; 0: the floor alone decides */
    bool force;                                      /* whatever the conditions */
} th_compare_desc;

/* TH_ERR_INPUT when the result_files have no entry in common, or were not measured under the same conditions: scene,
 * picture, threads, and, where both have times, machine, compiler, flags and instruction set. */
th_result th_compare(const th_compare_desc *desc, th_comparison *out, th_error *err);
void th_comparison_fini(th_comparison *comparison);

/* Whether anything became slower or wrong. */
bool th_comparison_is_bad(const th_comparison *comparison);

/* "regression" and so on. Static storage. */
const char *th_verdict_name(th_verdict verdict);

/* As one document (NULL when memory is out), as a table for other programs, and for people. False when memory is out.
 */
json_t *th_comparison_json(const th_comparison *comparison);
bool th_comparison_csv(const th_comparison *comparison, FILE *file);
bool th_comparison_print(const th_comparison *comparison, th_format format, FILE *file);

TH_API_END

#endif
