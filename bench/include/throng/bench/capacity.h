/* Capacity: the most items with which frames meet a time budget, found from frames whose times vary.
 *
 * A frame that takes longer than the budget is a deadline miss. A number of items meets the budget when at most
 * TH_CAPACITY_MISS_RATE of its frames are misses, that is when their 99th percentile is within the budget. A run of its
 * own must show that with 95 % confidence: if more than that share were misses, it would be unlikely to see as few
 * misses as the run did (the one-sided interval of C. Clopper, E. Pearson, The Use of Confidence or Fiducial Limits
 * Illustrated in the Case of the Binomial, 1934). So 4 of 1,000 frames may miss, and 0 of 299.
 *
 * The number is found in three stages; docs/notes/measuring.md explains why:
 *
 *   bracket  few frames of 1, 4, 16... items, until their median exceeds the budget
 *   search   sequential tests (A. Wald, Sequential Tests of Statistical Hypotheses, 1945). Each ends when it shows that
 *            at most 0.5 % of frames miss or that at least 2 % do, and is wrong in at most 5 % of the cases. The number
 *            doubles or halves until one has passed and one has failed; bisection brings them within 5 %
 *   confirm  confirmation runs: at least three, and six if their 99th percentiles imply numbers that differ by more
 *            than 5 %. Each has the most items with which all runs before it would have met the budget. With four or
 *            more runs, drop the worst if the second-worst is at least 25 % higher (assumed external interference).
 *            The last run meets the budget
 *
 * The items may be anything; crowds and clocks are the caller's. */
#ifndef THRONG_BENCH_CAPACITY_H
#define THRONG_BENCH_CAPACITY_H

#include <throng/bench/stats.h>
#include <throng/core/api.h>
#include <throng/core/error.h>

TH_API_BEGIN

#define TH_CAPACITY_MISS_RATE 0.01

/* With fewer frames even 0 misses do not show that the miss rate is low enough. */
enum { TH_CAPACITY_MIN_FRAMES = 299 };

/* What is tested. */
typedef struct th_capacity_subject {
    /* Prepares for frames of `items` items. Must not return before the system has warmed up. */
    th_result (*prepare)(void *ctx, uint32_t items, th_error *err);
    double (*frame)(void *ctx); /* runs the next frame; returns its time in nanoseconds */
    /* The frames since the last `prepare` count as the result, until the next call of keep. */
    void (*keep)(void *ctx);
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

/* Frames with the same number of items. */
typedef struct th_capacity_probe {
    th_capacity_stage stage;
    uint32_t items, frames, deadline_misses;
    bool meets_budget;
    double median_ns, p99_ns; /* NaN until it has ended */
} th_capacity_probe;

typedef struct th_capacity_desc {
    double budget_ns;
    uint32_t most;   /* items, at least 1 */
    uint32_t frames; /* in a confirmation run, at least TH_CAPACITY_MIN_FRAMES; the maximum for other probes */
    void (*progress)(void *ctx, const th_capacity_probe *probe); /* after each frame; may be NULL */
    void *progress_ctx;
} th_capacity_desc;

enum { TH_CAPACITY_MAX_PROBES = 192 };

typedef struct th_capacity {
    uint32_t items; /* 0: not even one item meets the budget */
    /* The last confirmation run, which has that number of items; without one, the last probe. */
    th_capacity_probe confirmed;
    /* The smallest number above `items` that was seen to miss the budget; 0: none. */
    uint32_t first_failing;
    /* Confirmation runs. 0 without a search or without items; then the next three fields are 0, too. */
    uint32_t runs;
    uint32_t worst_run; /* items whose 99th percentile would equal the budget: in the worst run, */
    uint32_t best_run;  /* in the best run */
    bool is_stable;     /* best_run is at most 5 % above worst_run */
    /* Confidence interval (TH_CONFIDENCE) of the number of items whose 99th percentile equals the budget. It uses all
     * frames of search and confirm: each implies the number of items that would take exactly the budget
     * (th_quantile_interval). It includes the estimate of every confirmation run. `items` is never above it and usually
     * below. NaN without items and without a search. */
    th_interval interval;
    bool is_at_max;                                   /* equal to the maximum: more items may meet it as well */
    th_capacity_probe probes[TH_CAPACITY_MAX_PROBES]; /* in the order they ran */
    uint32_t probe_count;
} th_capacity;

/* Fails when `prepare` fails or memory is out. The subject's kept frames are those of the result. From 1,000 items on
 * the result is rounded down to three digits. */
th_result th_capacity_find(const th_capacity_desc *desc, const th_capacity_subject *subject, th_capacity *out,
                           th_error *err);

/* Skips the search: tests exactly `items` items. Runs all frames even if the budget is missed. One probe. */
th_result th_capacity_test(const th_capacity_desc *desc, const th_capacity_subject *subject, uint32_t items,
                           th_capacity *out, th_error *err);

/* The most deadline misses allowed in a confirmation run of this many frames. */
uint32_t th_capacity_allowed_misses(uint32_t frames);

/* Upper bound, with 95 % confidence, of the miss rate when `late` of `frames` missed. */
double th_capacity_miss_rate_bound(uint32_t late, uint32_t frames);

TH_API_END

#endif
