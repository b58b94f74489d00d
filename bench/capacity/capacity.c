#include <bench/capacity.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#define RISK 0.05

/* Miss rates that a test of the search distinguishes: a factor of two on either side of the allowed rate. */
#define LOW_MISS_RATE  (TH_CAPACITY_MISS_RATE / 2)
#define HIGH_MISS_RATE (TH_CAPACITY_MISS_RATE * 2)

/* Numbers within this factor count as equal: the most that passed and the fewest that failed, when the search ends; the
 * estimates of all confirmation runs, on a stable machine. */
#define CLOSE 1.05

/* The next confirmation run after one that failed has at most this share of its items. */
#define AFTER_FAILURE 0.99

/* With more than FEW_RUNS runs, the worst is left out if it is OUTLIER times as bad as the next: something else ran
 * meanwhile. */
#define OUTLIER 1.25

/* Waking up may take up to a tenth of it. */
#define SHORTEST_FREEZE_NS 1e6

/* Frames of a bracket probe; growth from one to the next; confirmation runs on a stable machine and on another; blocks
 * of a run for the bootstrap, each as long as a slow phase of a machine, usually ten seconds; runs whose frames are
 * kept for it. */
enum { BRACKET_FRAMES = 9, GROWTH = 4, FEW_RUNS = 3, MANY_RUNS = 6, BLOCKS = 3, HISTORY_RUNS = 16 };

const char *th_capacity_stage_name(th_capacity_stage stage)
{
    assert(stage < TH_CAPACITY_STAGE_COUNT);
    static const char *const names[] = {"bracket", "search", "confirm"};
    return names[stage];
}

/* ---- ticks ---- */

uint32_t th_capacity_missed_ticks(double ns, double budget_ns)
{
    assert(budget_ns > 0);
    const double missed = ceil(ns / budget_ns) - 1;
    return missed < 0 ? 0 : missed < UINT32_MAX ? (uint32_t)missed : UINT32_MAX;
}

static double frozen_part(const th_capacity_frame *frame, double budget_ns)
{
    return frame->stopped_ns >= fmax(budget_ns, SHORTEST_FREEZE_NS) ? frame->stopped_ns : 0;
}

static void add_ticks(th_capacity_ticks *ticks, const th_capacity_ticks *more)
{
    ticks->scheduled += more->scheduled;
    ticks->frames += more->frames;
    ticks->late += more->late;
    ticks->missed += more->missed;
    ticks->longest_ns = fmax(ticks->longest_ns, more->longest_ns);
    ticks->freezes += more->freezes;
    ticks->frozen_ns += more->frozen_ns;
    ticks->longest_freeze_ns = fmax(ticks->longest_freeze_ns, more->longest_freeze_ns);
}

void th_capacity_count(th_capacity_ticks *ticks, const th_capacity_frame *frame, double budget_ns)
{
    const uint32_t missed = th_capacity_missed_ticks(frame->ns, budget_ns);
    const double frozen_ns = frozen_part(frame, budget_ns);
    const th_capacity_ticks one = {1 + missed, 1, missed > 0, missed, frame->ns, frozen_ns > 0, frozen_ns, frozen_ns};
    add_ticks(ticks, &one);
}

void th_capacity_add_latencies(th_samples *samples, double ns, double budget_ns)
{
    const uint32_t missed = th_capacity_missed_ticks(ns, budget_ns), count = missed > 0 ? missed : 1;
    for (uint32_t i = 0; i < count && samples->count < samples->capacity; i++)
        th_samples_add(samples, ns - i * budget_ns);
}

/* ---- allowed misses ---- */

/* The probability of at most `missed` misses when each tick is missed with probability `share`. */
static double chance_of(uint32_t missed, uint32_t ticks, double share)
{
    double chance = 0;
    for (uint32_t k = 0; k <= missed; k++)
        chance += exp(lgamma(ticks + 1.0) - lgamma(k + 1.0) - lgamma(ticks - k + 1.0) + k * log(share) +
                      (ticks - k) * log1p(-share));
    return chance;
}

uint32_t th_capacity_allowed_misses(uint32_t ticks)
{
    uint32_t missed = 0;
    while (missed < ticks && chance_of(missed + 1, ticks, TH_CAPACITY_MISS_RATE) <= RISK)
        missed++;
    return missed;
}

double th_capacity_miss_rate_bound(uint32_t missed, uint32_t ticks)
{
    assert(missed <= ticks && ticks > 0);
    if (missed >= ticks)
        return 1;
    double low = 0, high = 1;
    for (int i = 0; i < 50; i++) {
        const double middle = (low + high) / 2;
        if (chance_of(missed, ticks, middle) > RISK)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- probes ---- */

typedef struct search {
    const th_capacity_desc *desc;
    const th_capacity_subject *subject;
    th_capacity *out;
    th_samples times;    /* of the ticks of the probe in progress */
    th_samples unfrozen; /* the same without freezes */
    /* For each frame of search and confirm: the items with which it would have taken the budget. */
    th_samples capacities;
    /* For each confirmation run: the items with which its 99th percentile would equal the budget. */
    th_samples run_capacities;
    uint32_t allowed; /* deadline misses allowed in a confirmation run */
    double one_ns;    /* time of a frame of one item; 0: unknown, and where that was late */
    th_error *err;
} search;

/* Starts a probe. When the list is full, which only a very unstable machine causes, it replaces the last one. */
static th_result begin(search *s, th_capacity_stage stage, uint32_t items, th_capacity_probe **out)
{
    th_capacity *c = s->out;
    c->probe_count += c->probe_count < TH_CAPACITY_MAX_PROBES;
    *out = &c->probes[c->probe_count - 1];
    **out = (th_capacity_probe){.stage = stage, .items = items, .median_ns = (double)NAN, .p99_ns = (double)NAN};
    s->times.count = s->unfrozen.count = 0;
    return s->subject->prepare(s->subject->ctx, items, s->err);
}

/* Asked only where there is more to do. */
static bool is_stopped(search *s)
{
    s->out->is_interrupted |= s->desc->stop && *s->desc->stop;
    return s->out->is_interrupted;
}

/* The factor by which the items could grow until a frame takes the budget, given that one of `items` items takes `ns`.
 * The time is assumed to grow linearly from that of one item, and no farther than a bracket grows: a few frames that
 * were slow, though in time, would promise any number. */
static double fill_factor(const search *s, uint32_t items, double ns)
{
    const double one_ns = items > 1 ? s->one_ns : 0, first = one_ns > 0;
    if (ns <= one_ns)
        return GROWTH;
    return fmin((first + (items - first) * (s->desc->budget_ns - one_ns) / (ns - one_ns)) / items, GROWTH);
}

/* Returns whether the frame was late without a freeze. */
static bool run_frame(search *s, th_capacity_probe *p)
{
    const double budget_ns = s->desc->budget_ns;
    const th_capacity_frame frame = s->subject->frame(s->subject->ctx);
    const double ns = frame.ns - frozen_part(&frame, budget_ns);
    th_capacity_add_latencies(&s->times, frame.ns, budget_ns);
    th_capacity_add_latencies(&s->unfrozen, ns, budget_ns);
    th_samples *all = &s->capacities;
    if (p->stage != TH_CAPACITY_BRACKET && all->count == all->capacity) { /* drops the older half of a full list */
        all->count /= 2;
        memmove(all->values, all->values + all->capacity - all->count, all->count * sizeof *all->values);
    }
    if (p->stage != TH_CAPACITY_BRACKET)
        th_samples_add(all, p->items * fill_factor(s, p->items, ns));
    th_capacity_count(&p->ticks, &frame, budget_ns);
    if (s->desc->progress)
        s->desc->progress(s->desc->progress_ctx, p);
    return ns > budget_ns;
}

/* An interrupted probe is dropped. */
static void end(search *s, th_capacity_probe *p, bool meets_budget)
{
    if (s->out->is_interrupted) {
        s->out->probe_count--;
        return;
    }
    const th_stats stats = th_samples_stats(&s->times);
    p->median_ns = stats.median;
    p->p99_ns = stats.p99;
    p->meets_budget = meets_budget;
    const double ns = th_samples_stats(&s->unfrozen).median;
    if (p->items == 1 ? meets_budget && s->one_ns == 0 : ns < s->one_ns) /* one never takes longer than several */
        s->one_ns = ns;
    add_ticks(&s->out->ticks, &p->ticks);
}

/* A sequential probability ratio test. A trial is a frame, because the ticks that one frame misses are no independent
 * trials. If it cannot decide within the maximum of ticks, the observed share of late frames does. */
static th_result sequential_test(search *s, uint32_t items, th_capacity_probe **out)
{
    const double late = log(HIGH_MISS_RATE / LOW_MISS_RATE), in_time = log1p(-HIGH_MISS_RATE) - log1p(-LOW_MISS_RATE);
    const double enough = log((1 - RISK) / RISK);
    double evidence = 0;
    uint32_t late_frames = 0;
    th_capacity_probe *p;
    const th_result result = begin(s, TH_CAPACITY_SEARCH, items, out);
    if (result != TH_OK)
        return result;
    for (p = *out; fabs(evidence) < enough && p->ticks.scheduled < s->desc->frames && !is_stopped(s);) {
        const bool is_late = run_frame(s, p);
        late_frames += is_late;
        evidence += is_late ? late : in_time;
    }
    end(s, p, fabs(evidence) < enough ? late_frames <= TH_CAPACITY_MISS_RATE * p->ticks.frames : evidence < 0);
    return TH_OK;
}

/* A confirmation run. */
static th_result confirm(search *s, uint32_t items, th_capacity_probe **out)
{
    const th_result result = begin(s, TH_CAPACITY_CONFIRM, items, out);
    if (result != TH_OK)
        return result;
    th_capacity_probe *p = *out;
    while (p->ticks.scheduled < s->desc->frames && !is_stopped(s))
        run_frame(s, p);
    end(s, p, p->ticks.missed <= s->allowed);
    return TH_OK;
}

/* ---- the stages ---- */

/* Finds the number to begin the search with: the last whose median is within the budget. */
static th_result bracket(search *s, uint32_t *out_first)
{
    for (uint64_t items = 1;; items *= GROWTH) {
        th_capacity_probe *p;
        const th_result result =
            begin(s, TH_CAPACITY_BRACKET, (uint32_t)(items < s->desc->most ? items : s->desc->most), &p);
        if (result != TH_OK)
            return result;
        uint32_t late = 0;
        for (int i = 0; i < BRACKET_FRAMES && !is_stopped(s); i++)
            late += run_frame(s, p);
        end(s, p, late <= BRACKET_FRAMES / 2);
        if (s->out->is_interrupted)
            return TH_OK;
        if (p->meets_budget || items == 1)
            *out_first = p->items;
        if (!p->meets_budget || p->items == s->desc->most)
            return TH_OK;
    }
}

/* Doubles or halves until both have been seen, then bisects until they are close. */
static th_result bisect(search *s, uint32_t items)
{
    const uint32_t most = s->desc->most;
    uint32_t *const passed = &s->out->passed, *const failed = &s->out->failed;
    while (*failed != 1 && *passed != most && !is_stopped(s)) {
        th_capacity_probe *p;
        const th_result result = sequential_test(s, items, &p);
        if (result != TH_OK || s->out->is_interrupted)
            return result;
        *(p->meets_budget ? passed : failed) = items;
        if (*passed > 0 && *failed > 0 && (*failed <= *passed + 1 || *failed <= *passed * CLOSE))
            return TH_OK;
        if (*passed == 0)
            items = *failed / 2;
        else if (*failed == 0)
            items = *passed > most / 2 ? most : 2 * *passed;
        else
            items = (uint32_t)fmax(sqrt((double)*passed * *failed), *passed + 1.0);
    }
    return TH_OK;
}

/* Three digits from 1,000 items on. The rounded number itself is tested, so it is what was measured. */
static uint32_t round_down(uint32_t items)
{
    uint32_t unit = 1;
    while (items / unit >= 1000)
        unit *= 10;
    return items / unit * unit;
}

static uint32_t whole(const search *s, double items)
{
    return round_down((uint32_t)fmin(items, s->desc->most));
}

/* The run that has just ended is the result, until another is kept. */
static void keep(search *s, const th_capacity_probe *p)
{
    s->out->confirmed = *p;
    s->subject->keep(s->subject->ctx);
}

static bool is_stable(const search *s)
{
    const double *run_capacities = th_samples_sorted(&s->run_capacities);
    return run_capacities[s->run_capacities.count - 1] <= CLOSE * run_capacities[0];
}

/* Each run has the number that those before suggest. The last one meets the budget. */
static th_result confirm_runs(search *s, uint32_t items)
{
    uint32_t frozen = 0;
    items = round_down(items);
    while (items > 0 && !is_stopped(s)) {
        th_capacity_probe *p;
        const th_result result = confirm(s, items, &p);
        if (result != TH_OK || s->out->is_interrupted)
            return result;

        /* Whether it would have met the budget without its freezes. */
        uint32_t missed = 0;
        for (uint32_t i = 0; i < s->unfrozen.count; i++)
            missed += s->unfrozen.values[i] > s->desc->budget_ns;
        const bool would_meet = missed <= s->allowed;

        /* The items with which the run's 99th percentile would equal the budget; fewer than it had if it failed
         * without freezes, since fewer misses than that are allowed. */
        const double estimate = p->items * fill_factor(s, p->items, th_samples_stats(&s->unfrozen).p99);
        s->run_capacities.count -= s->run_capacities.count == s->run_capacities.capacity;
        th_samples_add(&s->run_capacities, would_meet ? estimate : fmin(estimate, p->items * AFTER_FAILURE));
        if (p->meets_budget && s->run_capacities.count >= (is_stable(s) ? FEW_RUNS : MANY_RUNS)) {
            s->out->items = items;
            keep(s, p);
            return TH_OK;
        }
        frozen += !p->meets_budget && p->ticks.freezes > 0 && would_meet;
        s->out->is_frozen = frozen == TH_CAPACITY_MAX_RUNS;
        if (s->out->is_frozen)
            return TH_OK;

        /* Next: the most items with which all runs so far would have met the budget, without an outlier. */
        const double *run_capacities = th_samples_sorted(&s->run_capacities);
        const bool has_outlier = s->run_capacities.count > FEW_RUNS && run_capacities[1] > OUTLIER * run_capacities[0];
        items = whole(s, run_capacities[has_outlier]);
    }
    return TH_OK;
}

/* ---- all of it ---- */

/* If no run met the budget, the last probe is the result. */
static void finish(search *s)
{
    static const double quantiles[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23}; /* 0.975 */
    enum { QUANTILES = sizeof quantiles / sizeof *quantiles };
    th_capacity *c = s->out;
    if (c->items == 0)
        keep(s, &c->probes[c->probe_count - 1]);
    else {
        const th_stats runs = th_samples_stats(&s->run_capacities);
        c->runs = runs.count;
        c->worst_run = whole(s, runs.min);
        c->best_run = whole(s, runs.max);
        c->is_stable = is_stable(s) || c->best_run == c->worst_run;

        /* Half the width of the interval that holds the mean of all runs and the estimate of one more, by Student's
         * distribution: a run is one observation, however many frames it has. Only so much do runs tell about another
         * one. */
        const uint32_t freedom = runs.count - 1;
        const double half_width = freedom == 0 ? (double)INFINITY
                                               : quantiles[freedom < QUANTILES ? freedom - 1 : QUANTILES - 1] *
                                                     runs.stddev / sqrt(runs.count);

        /* Blocks miss changes that last as long as a block or longer. So the interval also includes the estimates of
         * all runs, that of their mean with the runs as units, and the result, which another search may come to. */
        c->interval = th_quantile_interval(&s->capacities, TH_CAPACITY_MISS_RATE, s->desc->frames / BLOCKS);
        c->interval.low = fmin(c->interval.low, fmin(fmin(runs.min, c->items), fmax(0, runs.mean - half_width)));
        c->interval.high = fmax(c->interval.high, fmax(runs.max, runs.mean + half_width));
    }
    for (uint32_t i = 0; i < c->probe_count; i++) {
        const th_capacity_probe *p = &c->probes[i];
        const bool has_failed = !p->meets_budget && p->ticks.freezes == 0; /* else a freeze may be why */
        if (has_failed && p->items > c->items && (c->first_failing == 0 || p->items < c->first_failing))
            c->first_failing = p->items;
    }
    c->is_at_max = c->items > 0 && c->items == round_down(s->desc->most);
}

th_result th_capacity_find(const th_capacity_desc *desc, const th_capacity_subject *subject, th_capacity *out,
                           th_error *err)
{
    assert(desc && subject && out);
    assert(desc->most > 0 && desc->frames >= TH_CAPACITY_MIN_FRAMES);
    search s = {.desc = desc, .subject = subject, .out = out, .err = err};
    uint32_t first = 1;
    th_capacity_probe *only = NULL;
    th_result result = TH_OK;
    *out = (th_capacity){.interval = {(double)NAN, (double)NAN}};
    s.allowed = th_capacity_allowed_misses(desc->frames);
    if (!th_samples_init(&s.times, desc->frames) || !th_samples_init(&s.unfrozen, desc->frames) ||
        !th_samples_init(&s.capacities, HISTORY_RUNS * desc->frames) ||
        !th_samples_init(&s.run_capacities, TH_CAPACITY_MAX_PROBES))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for the times of %u frames", desc->frames);
    else if (desc->items > 0)
        result = confirm(&s, desc->items, &only);
    else if ((result = bracket(&s, &first)) == TH_OK && (result = bisect(&s, first)) == TH_OK)
        result = confirm_runs(&s, out->passed);
    if (result == TH_OK && !out->is_interrupted && only) {
        keep(&s, only);
        out->items = only->meets_budget ? desc->items : 0;
    } else if (result == TH_OK && !out->is_interrupted)
        finish(&s);
    th_samples_fini(&s.times);
    th_samples_fini(&s.unfrozen);
    th_samples_fini(&s.capacities);
    th_samples_fini(&s.run_capacities);
    return result;
}
