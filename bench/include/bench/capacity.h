/* Capacity: the most items with which frames meet a time budget, found from frames whose times vary.
 *
 * Frames begin on the ticks of a fixed schedule whose period is the budget; the next tick is a frame's deadline. A tick
 * that comes before the last frame has ended is missed: no frame begins on it. So a frame that ends after its deadline
 * misses that tick, and one tick more for each further budget. Omitting those would hide how long it took (coordinated
 * omission: G. Tene, How NOT to Measure Latency, 2013). A number of items meets the budget when at most
 * TH_CAPACITY_MISS_RATE of the scheduled ticks are missed. A run of its own must show that with 95 % confidence: if
 * more than that share were missed, it would be unlikely to miss as few as the run did (the one-sided interval of C.
 * Clopper, E. Pearson, The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial, 1934). So 4 of
 * 1,000 ticks may be missed, and 0 of 299.
 *
 * A freeze is a budget or longer, and at least 1 ms, in which the process did not run at all: the machine misses these
 * ticks, whatever the number of items. They count, so a run with many of them does not meet the budget. But the next
 * number is estimated from the frames' times without their freezes, so that a freeze does not make the result smaller.
 * If freezes fail TH_CAPACITY_MAX_RUNS runs, the search ends without a result.
 *
 * The number is found in three stages; docs/notes/measuring.md explains why:
 *
 *   bracket  few frames of 1, 4, 16... items, until their median exceeds the budget
 *   search   sequential tests (A. Wald, Sequential Tests of Statistical Hypotheses, 1945). Each ends when it shows that
 *            at most 0.5 % of frames are late or that at least 2 % are, and is wrong in at most 5 % of the cases. The
 * number doubles or halves until one has passed and one has failed; bisection brings them within 5 % confirm
 * confirmation runs: at least three, and six if their 99th percentiles imply numbers that differ by more than 5 %. Each
 * has the most items with which all runs before it would have met the budget. With four or more runs, drop the worst if
 * the second-worst is at least 25 % higher (assumed external interference). The last run meets the budget
 *
 * The items may be anything; crowds and clocks are the caller's. */
#ifndef THRONG_BENCH_CAPACITY_H
#define THRONG_BENCH_CAPACITY_H

#include <bench/stats.h>
#include <core/error.h>

#include <signal.h>

#define TH_CAPACITY_MISS_RATE 0.01

/* MIN_FRAMES: with fewer ticks even 0 misses do not show that the miss rate is low enough. */
enum { TH_CAPACITY_MIN_FRAMES = 299, TH_CAPACITY_MAX_RUNS = 12 };

/* A frame that was run. */
typedef struct th_capacity_frame {
    double ns;         /* from its tick until it ended */
    double stopped_ns; /* of that time: at least so long no thread of this process ran; 0 where it cannot be told */
} th_capacity_frame;

/* What became of the ticks of a schedule. Each is either missed or a frame begins on it. */
typedef struct th_capacity_ticks {
    uint32_t scheduled; /* frames + missed */
    uint32_t frames;    /* that were run */
    uint32_t late;      /* of these: ended after the next tick */
    uint32_t missed;    /* at least one for each late frame */
    double longest_ns;  /* the longest frame */
    uint32_t freezes;   /* frames with a freeze, and their stopped_ns: */
    double frozen_ns, longest_freeze_ns;
} th_capacity_ticks;

/* The ticks that a frame misses which ends `ns` after its own: those that come before its end. */
uint32_t th_capacity_missed_ticks(double ns, double budget_ns);

/* Counts a frame. Depends only on its arguments. */
void th_capacity_count(th_capacity_ticks *ticks, const th_capacity_frame *frame, double budget_ns);

/* Adds the latency that each tick saw, while there is room: of a frame in time its own; of another one, for each tick
 * that it missed, the time until its end from the tick before. So exactly the missed ticks are above the budget. */
void th_capacity_add_latencies(th_samples *samples, double ns, double budget_ns);

/* What is tested. */
typedef struct th_capacity_subject {
    /* Prepares for frames of `items` items. Must not return before the system has warmed up. */
    th_result (*prepare)(void *ctx, uint32_t items, th_error *err);
    th_capacity_frame (*frame)(void *ctx); /* runs a frame on the next tick that is not missed */
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
    uint32_t items;
    th_capacity_ticks ticks;
    bool meets_budget;
    double median_ns, p99_ns; /* as th_capacity_add_latencies; NaN until it has ended */
} th_capacity_probe;

typedef struct th_capacity_desc {
    double budget_ns;
    uint32_t items;  /* skip the search: test exactly so many, on all ticks even if the budget is missed. One probe.
                        0: find the most */
    uint32_t most;   /* items, at least 1 */
    uint32_t frames; /* ticks of a confirmation run, at least TH_CAPACITY_MIN_FRAMES; the maximum for other probes */
    void (*progress)(void *ctx, const th_capacity_probe *probe); /* after each frame; may be NULL */
    void *progress_ctx;
    const volatile sig_atomic_t *stop; /* not 0: end before the next frame; may be NULL */
} th_capacity_desc;

enum { TH_CAPACITY_MAX_PROBES = 192 };

typedef struct th_capacity {
    uint32_t items;          /* 0: not even one item meets the budget, or */
    bool is_frozen;          /* freezes failed TH_CAPACITY_MAX_RUNS runs: nothing is known */
    bool is_interrupted;     /* nothing but `probes`, `passed` and `failed` is known, of the probes that ended */
    uint32_t passed, failed; /* in the search: the most that met the budget, the fewest that did not; 0: none */
    th_capacity_ticks ticks; /* of all probes */
    /* The last confirmation run, which has that number of items; without one, the last probe. */
    th_capacity_probe confirmed;
    /* The smallest number above `items` that was seen to miss the budget without a freeze; 0: none. */
    uint32_t first_failing;
    /* Confirmation runs. 0 without a search or without items; then the next three fields are 0, too. */
    uint32_t runs;
    /* Items whose 99th percentile without freezes would equal the budget: in the worst run, */
    uint32_t worst_run;
    uint32_t best_run; /* in the best run */
    bool is_stable;    /* best_run is at most 5 % above worst_run */
    /* Confidence interval (TH_CONFIDENCE) of the number of items whose 99th percentile equals the budget: the widest of
     * two. One has all frames of search and confirm as units: each implies the number of items that would take exactly
     * the budget (th_quantile_interval). The other has the confirmation runs as units, by Student's distribution, since
     * frames of one run have more in common. It includes the estimate of every run, and `items`. NaN without items and
     * without a search. */
    th_interval interval;
    bool is_at_max;                                   /* equal to the maximum: more items may meet it as well */
    th_capacity_probe probes[TH_CAPACITY_MAX_PROBES]; /* in the order they ran */
    uint32_t probe_count;
} th_capacity;

/* Fails when `prepare` fails or memory is out. The subject's kept frames are those of the result. From 1,000 items on
 * the result is rounded down to three digits. */
th_result th_capacity_find(const th_capacity_desc *desc, const th_capacity_subject *subject, th_capacity *out,
                           th_error *err);

/* The most missed ticks allowed in a confirmation run of this many. */
uint32_t th_capacity_allowed_misses(uint32_t ticks);

/* Upper bound, with 95 % confidence, of the miss rate when `missed` of `ticks` were. */
double th_capacity_miss_rate_bound(uint32_t missed, uint32_t ticks);

#endif
