#include <bench/compare.h>

#include "compare_warnings.h"
#include "environment_diff.h"

#include <bench/student.h>
#include <core/json.h>
#include <core/text_format.h>
#include <throng/anim/crowd.h>
#include <throng/jobs/jobs.h>

#include <assert.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- processes ---- */

/* The core clock that all times of an entry are scaled to; 0: they are not scaled. */
static double common_core_clock(const th_result_file_entry *const sides[2])
{
    const bool known = sides[0]->core_clock_ns.count > 0 && sides[1]->core_clock_ns.count > 0;
    return known ? th_samples_stats(&sides[0]->core_clock_ns).median : 0;
}

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_other_scheduler(const char *scheduler)
{
    bool is_known = strcmp(scheduler, "plain") == 0; /* a loop without a scheduler */
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++)
        is_known =
            is_known || (s != TH_SCHEDULER_WORK_STEALING && strcmp(scheduler, th_scheduler_name((th_scheduler)s)) == 0);
    return is_known;
}

static bool is_baseline(const char *name)
{
    return has_prefix(name, "limit/") || has_prefix(name, "ceiling/") || has_prefix(name, "external/") ||
           has_prefix(name, "scale/memory_") ||
           (has_prefix(name, "jobs/") && is_other_scheduler(strrchr(name, '/') + 1));
}

/* Drawing waits for the driver, which has threads of its own, so CPU time misses part of it. Google Benchmark marks
 * wall time in the name. */
static bool is_wall_time(const th_result_file_entry *e)
{
    return e->threads > 1 || has_prefix(e->name, "frame/") || has_prefix(e->name, "error/") ||
           has_prefix(e->name, "gpu/") || has_prefix(e->name, "stress/drawn/") || strstr(e->name, "/real_time") ||
           strstr(e->name, "/manual_time");
}

/* A sample of each estimator for each process. */
typedef struct process_values {
    th_samples ns[TH_ESTIMATOR_COUNT];
} process_values;

static double quantile_of(const double *values, uint32_t count, double part, double *scratch)
{
    memcpy(scratch, values, count * sizeof *scratch);
    return th_quantile(scratch, count, part);
}

static double mean_of(const double *values, uint32_t count)
{
    double mean = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += values[i] / count;
    return mean;
}

/* A process's core clock is the first quartile of its samples: the fastest of many may be a misreading. scratch: room
 * for all samples. */
static void add_processes(const th_result_file_entry *e, double core_clock_ns, double *scratch, process_values *out)
{
    const double *real_ns = e->real_ns.values, *times = is_wall_time(e) ? real_ns : e->cpu_ns.values;
    for (uint32_t p = 0, first = 0; p < e->process_count; first = e->ends[p++]) {
        const uint32_t count = e->ends[p] - first;
        if (count == 0)
            continue;
        const double scale =
            core_clock_ns > 0 ? core_clock_ns / quantile_of(e->core_clock_ns.values + first, count, 0.25, scratch) : 1;
        const double values[TH_ESTIMATOR_COUNT] = {
            [TH_ESTIMATOR_CORE] = quantile_of(times + first, count, 0.05, scratch),
            [TH_ESTIMATOR_MEAN] = mean_of(times + first, count),
            [TH_ESTIMATOR_TAIL] = quantile_of(real_ns + first, count, 0.95, scratch),
        };
        for (int i = 0; i < TH_ESTIMATOR_COUNT; i++)
            th_samples_add(&out->ns[i], values[i] * scale);
    }
}

static bool values_init(process_values *v, const th_result_file_entry *e, double core_clock_ns)
{
    double *scratch = malloc((e->real_ns.count + (size_t)1) * sizeof *scratch);
    bool room = scratch;
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++)
        room = th_samples_init(&v->ns[i], e->process_count) && room;
    if (room)
        add_processes(e, core_clock_ns, scratch, v);
    free(scratch);
    return room;
}

static void values_fini(process_values *v)
{
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++)
        th_samples_fini(&v->ns[i]);
}

/* ---- one entry ---- */

static double geometric_mean(const th_samples *ns)
{
    double sum = 0;
    for (uint32_t i = 0; i < ns->count; i++)
        sum += log(ns->values[i]);
    return exp(sum / ns->count);
}

static void estimate(const th_samples *old_ns, const th_samples *new_ns, const th_comparison *c,
                     th_change_estimate *out)
{
    out->old_ns = geometric_mean(old_ns);
    out->new_ns = geometric_mean(new_ns);
    out->change = out->new_ns / out->old_ns - 1;
    if (old_ns->count < TH_COMPARE_MIN_PROCESSES || new_ns->count < TH_COMPARE_MIN_PROCESSES)
        return;
    th_log_estimate log_change = th_log_difference(new_ns, old_ns);
    log_change.error *= c->interleaved ? 1 : TH_COMPARE_DRIFT;
    const th_interval ratio = th_log_interval(&log_change, 1 - (1 - TH_CONFIDENCE) / c->looks);
    out->interval = (th_interval){ratio.low - 1, ratio.high - 1};
    out->p = fmin(1, th_log_p(&log_change) * c->looks);
    out->log_change = log_change;
}

static bool are_positive(const process_values *v)
{
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++)
        if (v->ns[i].count == 0 || !(th_samples_sorted(&v->ns[i])[0] > 0))
            return false;
    return true;
}

static void measure_change(const process_values values[2], const th_comparison *c, th_change *out)
{
    out->counts[0] = values[0].ns[0].count;
    out->counts[1] = values[1].ns[0].count;
    out->verdict = TH_VERDICT_UNTIMED;
    if (!are_positive(&values[0]) || !are_positive(&values[1]))
        return;
    out->verdict = is_baseline(out->name) ? TH_VERDICT_BASELINE : TH_VERDICT_INCONCLUSIVE;
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++) {
        th_change_estimate *e = &out->estimates[i];
        estimate(&values[0].ns[i], &values[1].ns[i], c, e);
        e->verdict = out->verdict;
        if (out->verdict == TH_VERDICT_BASELINE)
            e->p = (double)NAN;
    }
}

static void check_errors(const th_result_file_entry *a, const th_result_file_entry *b, th_change *out)
{
    const double most = 1 + TH_COMPARE_ERROR_GROWTH;
    if (b->max_error > a->max_error * most)
        snprintf(out->problem, sizeof out->problem, "its error grew from %.3g to %.3g", a->max_error, b->max_error);
    else if (b->error_vs_source > a->error_vs_source * most)
        snprintf(out->problem, sizeof out->problem, "its error vs source grew from %.3g to %.3g", a->error_vs_source,
                 b->error_vs_source);
}

/* ---- pixels ---- */

/* 1: grew, -1: shrank, 0: neither by more than the threshold. */
static int change_of_pixels(double old_px, double new_px, double threshold)
{
    if (fabs(new_px - old_px) <= TH_COMPARE_PIXELS)
        return 0;
    if (new_px > old_px * (1 + threshold))
        return 1;
    return new_px * (1 + threshold) < old_px ? -1 : 0;
}

static th_pixel_verdict judge_pixels(const th_pixel_change *p, double threshold)
{
    const bool has_old = isfinite(p->old_p99) && isfinite(p->old_max);
    const bool has_new = isfinite(p->new_p99) && isfinite(p->new_max);
    if (!has_old || !has_new)
        return has_old ? TH_PIXELS_ONLY_OLD : has_new ? TH_PIXELS_ONLY_NEW : TH_PIXELS_UNKNOWN;
    const int p99 = change_of_pixels(p->old_p99, p->new_p99, threshold);
    const int max = change_of_pixels(p->old_max, p->new_max, threshold);
    if (p99 > 0 || max > 0)
        return TH_PIXELS_WORSE;
    return p99 < 0 || max < 0 ? TH_PIXELS_BETTER : TH_PIXELS_EQUAL;
}

static void compare_pixels(const th_result_file_entry *a, const th_result_file_entry *b,
                           const th_environment_match *shared, double threshold, th_change *out)
{
    out->pixels =
        (th_pixel_change){TH_PIXELS_UNKNOWN, a->error_px_p99, b->error_px_p99, a->error_px_max, b->error_px_max};
    if (shared->scene && !a->failure && !b->failure)
        out->pixels.verdict = judge_pixels(&out->pixels, threshold);
}

/* ---- palettes ---- */

static void set_failure(const th_result_file_entry *e, th_change *out)
{
    snprintf(out->problem, sizeof out->problem, "it failed: %s", e->failure);
}

/* Whether the name says the kernel: "pose/avx2/f32" runs the same code on any machine that has it. */
static bool names_kernel(const char *name)
{
    for (th_isa isa = TH_ISA_AUTO + 1; isa < TH_ISA_COUNT; isa++) {
        const char *isa_name = th_isa_name(isa), *part = strstr(name, isa_name);
        if (part && part > name && part[-1] == '/' && (part[strlen(isa_name)] == '/' || !part[strlen(isa_name)]))
            return true;
    }
    return false;
}

static void check_palettes(const th_result_file_entry *a, const th_result_file_entry *b,
                           const th_environment_match *shared, th_change *out)
{
    const bool same_work = shared->scene && (shared->isa || names_kernel(b->name));
    if (b->failure)
        set_failure(b, out);
    else if (a->failure)
        return; /* its errors and palettes are wrong ones */
    else if (same_work)
        check_errors(a, b, out);
    if (!out->problem[0] && same_work && shared->libc && a->palette_hash && b->palette_hash &&
        strcmp(a->palette_hash, b->palette_hash) != 0)
        snprintf(out->problem, sizeof out->problem, "its palettes changed: %s, was %s", b->palette_hash,
                 a->palette_hash);
}

static th_change unknown_change(const char *name, th_verdict verdict, double threshold)
{
    static const double times_threshold[] = {[TH_ESTIMATOR_CORE] = 1, [TH_ESTIMATOR_MEAN] = 2, [TH_ESTIMATOR_TAIL] = 4};
    const double nan = (double)NAN;
    th_change change = {.name = name, .verdict = verdict, .pixels = {TH_PIXELS_UNKNOWN, nan, nan, nan, nan}};
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++)
        change.estimates[i] = (th_change_estimate){
            verdict, threshold * times_threshold[i], nan, nan, nan, {nan, nan}, nan, nan, {nan, nan, nan}};
    return change;
}

static th_change new_entry(const th_result_file_entry *e, double threshold)
{
    th_change change = unknown_change(e->name, TH_VERDICT_ONLY_NEW, threshold);
    if (e->failure)
        set_failure(e, &change);
    return change;
}

static bool compare_entry(const th_result_file_entry *a, const th_result_file_entry *b,
                          const th_environment_match *shared, const th_comparison *c, th_change *out)
{
    const double core_clock_ns = common_core_clock((const th_result_file_entry *const[]){a, b});
    process_values values[2];
    *out = unknown_change(b->name, TH_VERDICT_UNTIMED, c->threshold);
    check_palettes(a, b, shared, out);
    compare_pixels(a, b, shared, c->threshold, out);
    bool room = values_init(&values[0], a, core_clock_ns);
    room = values_init(&values[1], b, core_clock_ns) && room;
    if (room)
        measure_change(values, c, out);
    values_fini(&values[0]);
    values_fini(&values[1]);
    return room;
}

/* ---- all of them ---- */

static int by_p(const void *a, const void *b)
{
    const double x = (*(th_change_estimate *const *)a)->p, y = (*(th_change_estimate *const *)b)->p;
    return (x > y) - (x < y);
}

/* Holm's correction: the smallest p is multiplied by the number of estimates, the next by one less, and so on; none may
 * be below the one before. */
static void correct_for_number(th_change_estimate **tested, uint32_t count)
{
    double least = 0;
    qsort(tested, count, sizeof *tested, by_p);
    for (uint32_t i = 0; i < count; i++)
        tested[i]->p = least = fmin(1, fmax(least, tested[i]->p * (count - i)));
}

/* risk: of a false alarm by this estimate alone. Thresholds are symmetric as ratios: 1.025 and 1 / 1.025. */
static void classify(th_change_estimate *e, double risk)
{
    const double most = e->threshold, least = 1 / (1 + e->threshold) - 1;
    e->detectable = fmax(most, exp(th_student_quantile(1 - risk, e->log_change.freedom) * e->log_change.error) - 1);
    if (e->p < TH_COMPARE_ALPHA && (e->change > most || e->change < least))
        e->verdict = e->change > 0 ? TH_VERDICT_SLOWER : TH_VERDICT_FASTER;
    else if (e->interval.low > least && e->interval.high < most)
        e->verdict = TH_VERDICT_EQUIVALENT;
}

static bool is_not_slower(const th_change_estimate *e)
{
    return e->interval.high < e->threshold;
}

static th_verdict verdict_of(const th_change *c)
{
    const th_change_estimate *core = &c->estimates[TH_ESTIMATOR_CORE], *mean = &c->estimates[TH_ESTIMATOR_MEAN];
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++)
        if (c->estimates[i].verdict == TH_VERDICT_SLOWER)
            return TH_VERDICT_SLOWER;
    if (core->verdict == TH_VERDICT_EQUIVALENT && mean->verdict == TH_VERDICT_EQUIVALENT)
        return TH_VERDICT_EQUIVALENT;
    const bool one_is_faster = core->verdict == TH_VERDICT_FASTER || mean->verdict == TH_VERDICT_FASTER;
    return one_is_faster && is_not_slower(core) && is_not_slower(mean) ? TH_VERDICT_FASTER : TH_VERDICT_INCONCLUSIVE;
}

static bool classify_all(th_comparison *c)
{
    th_change_estimate **tested = calloc((size_t)c->count * TH_ESTIMATOR_COUNT + 1, sizeof *tested);
    uint32_t count = 0;
    if (!tested)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        for (int e = 0; e < TH_ESTIMATOR_COUNT; e++)
            if (isfinite(c->changes[i].estimates[e].p))
                tested[count++] = &c->changes[i].estimates[e];
    correct_for_number(tested, count);
    for (uint32_t i = 0; i < count; i++)
        classify(tested[i], TH_COMPARE_ALPHA / count / c->looks);
    free(tested);
    for (uint32_t i = 0; i < c->count; i++)
        if (c->changes[i].verdict == TH_VERDICT_INCONCLUSIVE)
            c->changes[i].verdict = verdict_of(&c->changes[i]);
    return true;
}

static bool compare_wanted(const th_compare_desc *desc, const regex_t *wanted, th_comparison *out)
{
    const th_result_file *a = desc->old_results, *b = desc->new_results;
    const th_environment_match shared = th_environment_match_of(a, b);
    bool room = true;
    for (uint32_t i = 0; i < b->entry_count && room; i++) {
        const th_result_file_entry *e = &b->entries[i], *old = th_result_file_find(a, e->name);
        if (wanted && regexec(wanted, e->name, 0, NULL, 0) != 0)
            continue;
        th_change *change = &out->changes[out->count++];
        if (old)
            room = compare_entry(old, e, &shared, out, change);
        else
            *change = new_entry(e, out->threshold);
    }
    for (uint32_t i = 0; i < a->entry_count && room; i++)
        if (!th_result_file_find(b, a->entries[i].name) &&
            (!wanted || regexec(wanted, a->entries[i].name, 0, NULL, 0) == 0))
            out->changes[out->count++] = unknown_change(a->entries[i].name, TH_VERDICT_ONLY_OLD, out->threshold);
    return room && classify_all(out);
}

static bool compare_all(const th_compare_desc *desc, th_comparison *out)
{
    regex_t regex;
    const bool filtered = desc->filter && regcomp(&regex, desc->filter, REG_EXTENDED | REG_NOSUB) == 0;
    const size_t most = (size_t)desc->old_results->entry_count + desc->new_results->entry_count;
    out->changes = calloc(most, sizeof *out->changes);
    const bool room = out->changes && compare_wanted(desc, filtered ? &regex : NULL, out);
    if (filtered)
        regfree(&regex);
    return room;
}

static void count_verdicts(th_comparison *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        c->verdicts[c->changes[i].verdict]++;
        c->pixels[c->changes[i].pixels.verdict]++;
        c->problems += c->changes[i].problem[0] != '\0';
    }
}

/* ---- comparability ---- */

static th_result reject_environments(const json_t *differences, th_error *err)
{
    char text[sizeof err->text] = "";
    const size_t count = json_array_size(differences), shown = count < 4 ? count : 4;
    for (size_t i = 0; i < shown; i++)
        th_append(text, sizeof text, "%s%.*s", i ? "; " : "", (int)((sizeof text - 100) / shown),
                  json_string_value(json_array_get(differences, i)));
    if (count > shown)
        th_append(text, sizeof text, "; and %zu more", count - shown);
    return th_fail(err, TH_ERR_INPUT, "not measured under the same conditions: %s", text);
}

static th_result finish(th_comparison *c, th_error *err)
{
    count_verdicts(c);
    if (c->verdicts[TH_VERDICT_ONLY_OLD] + c->verdicts[TH_VERDICT_ONLY_NEW] == c->count)
        return th_fail(err, TH_ERR_INPUT, "%s and %s have no entry in common%s", c->old_results->name,
                       c->new_results->name, c->count > 0 ? "" : " that the filter lets through");
    c->warnings = th_compare_warnings(c);
    return c->warnings ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for the warnings");
}

th_result th_compare(const th_compare_desc *desc, th_comparison *out, th_error *err)
{
    assert(desc && desc->old_results && desc->new_results && out);
    assert(desc->threshold > 0);
    const th_result_file *a = desc->old_results, *b = desc->new_results;
    *out = (th_comparison){.old_results = a,
                           .new_results = b,
                           .threshold = desc->threshold,
                           .looks = desc->looks > 0 ? desc->looks : 1,
                           .interleaved = desc->interleaved,
                           .fail_on = desc->fail_on};
    out->differences = th_environment_conflicts(a, b);
    th_result result = TH_OK;
    if (out->differences && json_array_size(out->differences) > 0 && !desc->force)
        result = reject_environments(out->differences, err);
    else if (!out->differences || !compare_all(desc, out))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u entries", a->entry_count + b->entry_count);
    else
        result = finish(out, err);
    if (result != TH_OK)
        th_comparison_fini(out);
    return result;
}

void th_comparison_fini(th_comparison *comparison)
{
    free(comparison->changes);
    json_decref(comparison->differences);
    json_decref(comparison->warnings);
    *comparison = (th_comparison){0};
}

th_outcome th_comparison_outcome(const th_comparison *c)
{
    assert(c);
    if (c->problems > 0 ||
        (c->fail_on <= TH_FAIL_ON_SLOWER && (c->verdicts[TH_VERDICT_SLOWER] > 0 || c->pixels[TH_PIXELS_WORSE] > 0)))
        return TH_OUTCOME_BAD;
    const bool is_open = c->fail_on == TH_FAIL_ON_INCONCLUSIVE && c->verdicts[TH_VERDICT_INCONCLUSIVE] > 0;
    return is_open ? TH_OUTCOME_INCONCLUSIVE : TH_OUTCOME_GOOD;
}

const char *th_verdict_name(th_verdict verdict)
{
    assert(verdict < TH_VERDICT_COUNT);
    static const char *const names[] = {"equivalent", "faster",   "inconclusive", "slower",
                                        "untimed",    "baseline", "only in old",  "only in new"};
    return names[verdict];
}

const char *th_pixel_verdict_name(th_pixel_verdict verdict)
{
    assert(verdict < TH_PIXELS_COUNT);
    static const char *const names[] = {"unknown", "equal", "better", "worse", "only in old", "only in new"};
    return names[verdict];
}

const char *th_estimator_name(th_estimator estimator)
{
    assert(estimator < TH_ESTIMATOR_COUNT);
    static const char *const names[] = {"core", "mean", "tail"};
    return names[estimator];
}

/* Which estimators have the entry's verdict, of those that count for it. */
static void name_estimators(const th_change *c, char *out, size_t size)
{
    const char *before = ": ";
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++) {
        const th_change_estimate *e = &c->estimates[i];
        if (e->verdict != c->verdict || (i == TH_ESTIMATOR_TAIL && c->verdict != TH_VERDICT_SLOWER))
            continue;
        th_append(out, size, "%s%s", before, th_estimator_name((th_estimator)i));
        if (c->verdict == TH_VERDICT_INCONCLUSIVE)
            th_append(out, size, " sees %.1f %%", 100 * e->detectable);
        before = ", ";
    }
}

void th_change_describe(const th_change *c, char *out, size_t size)
{
    assert(c && out);
    th_append(out, size, "%s", th_verdict_name(c->verdict));
    const uint32_t fewest = c->counts[0] < c->counts[1] ? c->counts[0] : c->counts[1];
    if (c->verdict == TH_VERDICT_INCONCLUSIVE && fewest < TH_COMPARE_MIN_PROCESSES)
        th_append(out, size, ": %u process%s", fewest, fewest == 1 ? "" : "es");
    else if (c->verdict == TH_VERDICT_INCONCLUSIVE || c->verdict == TH_VERDICT_SLOWER)
        name_estimators(c, out, size);
}
