#include <throng/bench/compare.h>

#include "compare_warnings.h"
#include "environment_diff.h"

#include <throng/anim/crowd.h>
#include <throng/bench/rank_test.h>
#include <throng/core/json.h>
#include <throng/jobs/jobs.h>

#include <assert.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- units ---- */

/* The samples to compare, one for each unit. */
typedef struct units {
    th_samples ns[2]; /* old, new */
    th_unit kind;
} units;

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
    return has_prefix(name, "limit/") || has_prefix(name, "external/") || has_prefix(name, "scale/memory_") ||
           (has_prefix(name, "jobs/") && is_other_scheduler(strrchr(name, '/') + 1));
}

/* Drawing waits for the driver, which has threads of its own, so CPU time misses part of it. Google Benchmark marks
 * wall time in the name. */
static bool is_wall_time(const th_result_file_entry *e)
{
    return e->threads > 1 || has_prefix(e->name, "frame/") || has_prefix(e->name, "stress/drawn/") ||
           strstr(e->name, "/real_time") || strstr(e->name, "/manual_time");
}

static const double *times_of(const th_result_file_entry *e)
{
    return is_wall_time(e) ? e->real_ns.values : e->cpu_ns.values;
}

static double quantile_of(const double *values, uint32_t count, double part, double *scratch)
{
    memcpy(scratch, values, count * sizeof *scratch);
    return th_quantile(scratch, count, part);
}

/* A process's core clock is the first quartile of its samples: the fastest of many may be a misreading. scratch: room
 * for all samples. */
static void add_processes(const th_result_file_entry *e, double core_clock_ns, double *scratch, th_samples *out)
{
    for (uint32_t p = 0, first = 0; p < e->process_count; first = e->ends[p++]) {
        const uint32_t count = e->ends[p] - first;
        if (count == 0)
            continue;
        const double ns = quantile_of(times_of(e) + first, count, TH_COMPARE_QUANTILE, scratch);
        const double process_core_clock_ns =
            core_clock_ns > 0 ? quantile_of(e->core_clock_ns.values + first, count, 0.25, scratch) : 1;
        th_samples_add(out, core_clock_ns > 0 ? ns / process_core_clock_ns * core_clock_ns : ns);
    }
}

static void add_repetitions(const th_result_file_entry *e, double core_clock_ns, th_samples *out)
{
    for (uint32_t i = 0; i < e->real_ns.count; i++)
        th_samples_add(out, core_clock_ns > 0 ? times_of(e)[i] / e->core_clock_ns.values[i] * core_clock_ns
                                              : times_of(e)[i]);
}

static bool units_init(units *u, const th_result_file_entry *const sides[2])
{
    const double core_clock_ns = common_core_clock(sides);
    const bool many =
        sides[0]->process_count >= TH_COMPARE_MIN_PROCESSES && sides[1]->process_count >= TH_COMPARE_MIN_PROCESSES;
    *u = (units){.kind = many ? TH_UNIT_PROCESS : TH_UNIT_REPETITION};
    for (int s = 0; s < 2; s++) {
        const uint32_t count = sides[s]->real_ns.count;
        double *scratch = malloc((count + (size_t)1) * sizeof *scratch);
        const bool room = th_samples_init(&u->ns[s], count) && scratch;
        if (room && many)
            add_processes(sides[s], core_clock_ns, scratch, &u->ns[s]);
        else if (room)
            add_repetitions(sides[s], core_clock_ns, &u->ns[s]);
        free(scratch);
        if (!room)
            return false;
    }
    return true;
}

static void units_fini(units *u)
{
    th_samples_fini(&u->ns[0]);
    th_samples_fini(&u->ns[1]);
}

/* ---- one entry ---- */

/* How two result files relate. */
typedef struct relation {
    th_environment_match shared;
    double floor[2]; /* by th_unit, beside that of the samples */
} relation;

/* 0 where it is unknown. */
static double external_load_noise(const th_result_file *a, const th_result_file *b)
{
    const json_t *x = json_object_get(a->context, "external_cpu_load"),
                 *y = json_object_get(b->context, "external_cpu_load");
    if (!json_is_number(x) || !json_is_number(y))
        return 0;
    return TH_COMPARE_EXTERNAL_LOAD_NOISE * fabs(json_number_value(x) - json_number_value(y));
}

static relation relation_of(const th_result_file *a, const th_result_file *b)
{
    const double load_noise = external_load_noise(a, b);
    return (relation){
        .shared = th_environment_match_of(a, b),
        .floor = {[TH_UNIT_REPETITION] = load_noise + TH_COMPARE_PROCESS_NOISE, [TH_UNIT_PROCESS] = load_noise},
    };
}

static void measure_change(const units *u, const relation *r, th_change *out)
{
    const th_stats stats[2] = {th_samples_stats(&u->ns[0]), th_samples_stats(&u->ns[1])};
    out->unit = u->kind;
    out->counts[0] = stats[0].count;
    out->counts[1] = stats[1].count;
    out->old_ns = stats[0].median;
    out->new_ns = stats[1].median;
    out->verdict = TH_VERDICT_UNTIMED;
    if (!(stats[0].min > 0 && stats[1].min > 0))
        return;
    const th_interval ratio = th_ratio_interval(&u->ns[1], &u->ns[0]);
    out->verdict = TH_VERDICT_SAME;
    out->change = out->new_ns / out->old_ns - 1;
    if (stats[0].count > 1 && stats[1].count > 1)
        out->interval = (th_interval){ratio.low - 1, ratio.high - 1};
    if (is_baseline(out->name)) {
        out->verdict = TH_VERDICT_BASELINE;
        return;
    }
    out->floor = (ratio.high - ratio.low) / 2 + r->floor[u->kind];
    out->p = th_rank_test_run(&u->ns[0], &u->ns[1]).p;
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

static void check_palettes(const th_result_file_entry *a, const th_result_file_entry *b, const relation *r,
                           th_change *out)
{
    const bool same_work = r->shared.scene && (r->shared.isa || names_kernel(b->name));
    if (b->failure)
        set_failure(b, out);
    else if (a->failure)
        return; /* its errors and palettes are wrong ones */
    else if (same_work)
        check_errors(a, b, out);
    if (!out->problem[0] && same_work && r->shared.libc && a->palette_hash && b->palette_hash &&
        strcmp(a->palette_hash, b->palette_hash) != 0)
        snprintf(out->problem, sizeof out->problem, "its palettes changed: %s, was %s", b->palette_hash,
                 a->palette_hash);
}

static th_change unknown_change(const char *name, th_verdict verdict)
{
    const double nan = (double)NAN;
    return (th_change){.name = name,
                       .verdict = verdict,
                       .old_ns = nan,
                       .new_ns = nan,
                       .change = nan,
                       .interval = {nan, nan},
                       .p = nan,
                       .floor = nan};
}

static th_change new_entry(const th_result_file_entry *e)
{
    th_change change = unknown_change(e->name, TH_VERDICT_ONLY_NEW);
    if (e->failure)
        set_failure(e, &change);
    return change;
}

static bool compare_entry(const th_result_file_entry *a, const th_result_file_entry *b, const relation *r,
                          th_change *out)
{
    const th_result_file_entry *const sides[2] = {a, b};
    units u;
    *out = unknown_change(b->name, TH_VERDICT_UNTIMED);
    check_palettes(a, b, r, out);
    const bool room = units_init(&u, sides);
    if (room)
        measure_change(&u, r, out);
    units_fini(&u);
    return room;
}

/* ---- all of them ---- */

static int by_p(const void *a, const void *b)
{
    const double x = (*(th_change *const *)a)->p, y = (*(th_change *const *)b)->p;
    return (x > y) - (x < y);
}

/* Holm's correction: the smallest p is multiplied by the number of entries, the next by one less, and so on; none may
 * be below the one before. */
static void correct_for_number(th_change **timed, uint32_t count)
{
    double least = 0;
    qsort(timed, count, sizeof *timed, by_p);
    for (uint32_t i = 0; i < count; i++)
        timed[i]->p = least = fmin(1, fmax(least, timed[i]->p * (count - i)));
}

/* The smallest p that the rank test can give for these counts: 2 / (a + b choose a), when all samples of one side are
 * above all of the other. */
static double least_p(const th_change *change)
{
    const double a = change->counts[0], b = change->counts[1];
    return 2 / exp(lgamma(a + b + 1) - lgamma(a + 1) - lgamma(b + 1));
}

static void classify(th_change *change, double threshold, uint32_t timed)
{
    const double size = fabs(change->change);
    if (change->p < TH_COMPARE_ALPHA && size > threshold && size > change->floor)
        change->verdict = change->change > 0 ? TH_VERDICT_REGRESSION : TH_VERDICT_GAIN;
    else if (least_p(change) * timed >= TH_COMPARE_ALPHA)
        change->verdict = TH_VERDICT_UNKNOWN;
}

static bool classify_all(th_comparison *c)
{
    th_change **timed = calloc((size_t)c->count + 1, sizeof *timed);
    uint32_t count = 0;
    if (!timed)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (isfinite(c->changes[i].p))
            timed[count++] = &c->changes[i];
    correct_for_number(timed, count);
    for (uint32_t i = 0; i < count; i++)
        classify(timed[i], c->threshold, count);
    free(timed);
    return true;
}

static bool compare_wanted(const th_compare_desc *desc, const regex_t *wanted, th_comparison *out)
{
    const th_result_file *a = desc->old_results, *b = desc->new_results;
    const relation related = relation_of(a, b);
    bool room = true;
    for (uint32_t i = 0; i < b->entry_count && room; i++) {
        const th_result_file_entry *e = &b->entries[i], *old = th_result_file_find(a, e->name);
        if (wanted && regexec(wanted, e->name, 0, NULL, 0) != 0)
            continue;
        th_change *change = &out->changes[out->count++];
        if (old)
            room = compare_entry(old, e, &related, change);
        else
            *change = new_entry(e);
    }
    for (uint32_t i = 0; i < a->entry_count && room; i++)
        if (!th_result_file_find(b, a->entries[i].name) &&
            (!wanted || regexec(wanted, a->entries[i].name, 0, NULL, 0) == 0))
            out->changes[out->count++] = unknown_change(a->entries[i].name, TH_VERDICT_ONLY_OLD);
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
        c->problems += c->changes[i].problem[0] != '\0';
    }
}

/* ---- comparability ---- */

static th_result reject_environments(const json_t *differences, th_error *err)
{
    char text[sizeof err->text] = "";
    const size_t count = json_array_size(differences);
    for (size_t i = 0; i < count && i < 4; i++)
        th_append(text, sizeof text, "%s%.200s", i ? "; " : "", json_string_value(json_array_get(differences, i)));
    if (count > 4)
        th_append(text, sizeof text, "; and %zu more", count - 4);
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
    assert(desc->threshold >= 0);
    const th_result_file *a = desc->old_results, *b = desc->new_results;
    *out = (th_comparison){.old_results = a, .new_results = b, .threshold = desc->threshold};
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

bool th_comparison_is_bad(const th_comparison *comparison)
{
    assert(comparison);
    return comparison->verdicts[TH_VERDICT_REGRESSION] > 0 || comparison->problems > 0;
}

const char *th_verdict_name(th_verdict verdict)
{
    assert(verdict < TH_VERDICT_COUNT);
    static const char *const names[] = {"same",    "regression", "gain",        "unknown",
                                        "untimed", "baseline",   "only in old", "only in new"};
    return names[verdict];
}
