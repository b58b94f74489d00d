/* Capacity: the most items of which a frame holds a time budget, found from frames whose times scatter.
 *
 * A frame is late when it takes longer than the budget. A number of items holds the budget when no more than
 * TH_CAPACITY_MISS_RATE of its frames are late, which is to say that their 99th percentile is within the budget, and
 * when that is known with 95 % confidence, from a run of its own: as many late frames as were seen, or fewer, must be
 * unlikely if more than that were late (the one-sided interval of C. Clopper, E. Pearson, The Use of Confidence or
 * Fiducial Limits Illustrated in the Case of the Binomial, 1934). Of 1,000 frames 4 may be late, of 299 none.
 *
 * Before that run three stages look for the number; docs/notes/measuring.md tells why they do it like this:
 *
 *   bracket  few frames of ever more items, until their median is late
 *   search   tests that go on until they know (A. Wald, Sequential Tests of Statistical Hypotheses, 1945): either at
 *            most 0.5 % are late or at least 2 %, wrong in 5 % of the cases at most. Each is at a number that the times
 *            so far suggest, or halfway between what meets_budget and what failed
 *   confirm  runs that count, at least three, and six where their 99th percentiles tell of numbers more than 5 % apart.
 *            Each is at as many as those before would have meets_budget; of five and more the worst is left out where
 * the next one would have meets_budget a quarter more, as it met something else. The last one holds
 *
 * Knows neither crowds nor clocks. */
#ifndef THRONG_BENCH_CAPACITY_H
#define THRONG_BENCH_CAPACITY_H

#include <throng/bench/stats.h>
#include <throng/core/api.h>
#include <throng/core/error.h>

TH_API_BEGIN

#define TH_CAPACITY_MISS_RATE 0.01

/* Fewer frames cannot show that so few are late. */
enum { TH_CAPACITY_MIN_FRAMES = 299 };

/* What has such frames. */
typedef struct th_capacity_subject {
    /* Before frames of so many items. What takes time at first shall be over when it returns. */
    th_result (*prepare)(void *ctx, uint32_t items, th_error *err);
    double (*frame)(void *ctx); /* the next one; returns how long it took, in nanoseconds */
    void (*keep)(void *ctx);    /* the frames since then are those that count, until it is called again */
    void *ctx;
} th_capacity_subject;

typedef enum th_capacity_stage {
    TH_CAPACITY_BRACKET = 0,
    TH_CAPACITY_SEARCH,
    TH_CAPACITY_CONFIRM,
    TH_CAPACITY_STAGE_COUNT,
} th_capacity_stage;

/* "bracket", "search", "confirm". */
const char *th_capacity_stage_name(th_capacity_stage stage);

/* Some frames of as many items. */
typedef struct th_capacity_probe {
    th_capacity_stage stage;
    uint32_t items, frames, deadline_misses;
    bool meets_budget;
    double median_ns, p99_ns; /* NaN until it has ended */
} th_capacity_probe;

typedef struct th_capacity_desc {
    double budget_ns;
    uint32_t most;   /* items, at least 1 */
    uint32_t frames; /* of a run that counts, at least TH_CAPACITY_MIN_FRAMES; also the most of any other probe */
    void (*progress)(void *ctx, const th_capacity_probe *probe); /* after each frame; may be NULL */
    void *progress_ctx;
} th_capacity_desc;

enum { TH_CAPACITY_MAX_PROBES = 192 };

typedef struct th_capacity {
    uint32_t items;              /* 0: not even one */
    th_capacity_probe confirmed; /* the last run that counts: of as many items; where there are none, the last probe */
    uint32_t first_failing;      /* the least number above that was seen not to hold it; 0: none */
    uint32_t runs;               /* that count; none without a search, or without items: then the others are 0, too */
    uint32_t worst_run;          /* of how many items the 99th percentile of the worst was the budget, */
    uint32_t best_run;           /* and of the best, */
    bool is_stable;              /* which is no more than 5 % above */
    /* Where the number lies whose 99th percentile is the budget, with a confidence of TH_CONFIDENCE, by all frames of
     * search and confirm, their quick moments and their slow ones: each tells of how many items it would have taken the
     * budget (th_quantile_interval). It has in it what each run that counts tells. `items` are safe, and as a rule
     * below it; never above. NaN where there are no items, and of no search. */
    th_interval interval;
    bool is_at_max;                                   /* nobody knows whether more would hold it as well */
    th_capacity_probe probes[TH_CAPACITY_MAX_PROBES]; /* in their order */
    uint32_t probe_count;
} th_capacity;

/* Ends with a failure of `prepare`, or when memory is out. The last frames of the subject are those that count: of
 * 1,000 items and more, the number has three digits and zeros. */
th_result th_capacity_find(const th_capacity_desc *desc, const th_capacity_subject *subject, th_capacity *out,
                           th_error *err);

/* No search: whether so many items hold the budget. All frames run, whatever comes of it. One probe. */
th_result th_capacity_test(const th_capacity_desc *desc, const th_capacity_subject *subject, uint32_t items,
                           th_capacity *out, th_error *err);

/* The most that may be late of so many frames of a run that counts. */
uint32_t th_capacity_allowed_misses(uint32_t frames);

/* The share of all frames that are late, when `late` of `frames` were, is at most this with 95 % confidence. */
double th_capacity_miss_rate_bound(uint32_t late, uint32_t frames);

TH_API_END

#endif
