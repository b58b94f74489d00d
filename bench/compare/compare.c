#include <bench/compare.h>

#include <anim/crowd.h>
#include <bench/student.h>
#include <core/json.h>
#include <core/text_format.h>
#include <jobs/jobs.h>

#include <assert.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* The core clock is scaled away up to here without a word. */
#define CORE_CLOCK_CHANGE 0.02

/* If nearly all entries have changed by this much in one direction, the machine has probably changed rather than all of
 * the code. */
#define COMMON_CHANGE 0.02
enum { FEWEST_FOR_COMMON = 4 };

/* ---- conditions: everything that times depend on besides the code ---- */

/* "isa is avx2 in old.json and avx512 in new.json" */
static void tell(json_t **texts, const char *what, const json_t *a, const json_t *b, const th_result_file *old_results,
                 const th_result_file *new_results)
{
    enum { FLAGS = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6) };
    char *first = a ? json_dumps(a, FLAGS) : strdup("unknown"), *second = b ? json_dumps(b, FLAGS) : strdup("unknown");
    if (first && second)
        th_json_append_format(texts, "%s is %.200s in %s and %.200s in %s", what, first, old_results->name, second,
                              new_results->name);
    else
        *texts = th_json_append(*texts, NULL);
    free(first);
    free(second);
}

static bool is_same(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);
}

/* names: with spaces between them. */
static void compare_fields(json_t **texts, const char *names, const th_result_file *old_results,
                           const th_result_file *new_results)
{
    char name[32];
    for (int length; sscanf(names, "%31s%n", name, &length) == 1; names += length) {
        const json_t *a = json_object_get(old_results->context, name), *b = json_object_get(new_results->context, name);
        if (!is_same(a, b))
            tell(texts, name, a, b, old_results, new_results);
    }
}

/* A copy that keeps what was requested and drops what was found out. */
static json_t *asked_of(const json_t *part)
{
    json_t *copy = json_deep_copy(part), *model;
    size_t index;
    json_object_del(copy, "ring_bytes");
    json_array_foreach(json_object_get(copy, "models"), index, model)
    {
        json_object_del(model, "exact_clips");
        json_object_del(model, "bytes_per_character");
        json_object_del(model, "bytes_per_clip");
    }
    return copy;
}

/* A result may lack the part: one of the job system only has no scene, one without drawing no picture. */
static void compare_part(json_t **texts, const char *part, const th_result_file *old_results,
                         const th_result_file *new_results)
{
    json_t *a = asked_of(json_object_get(old_results->context, part)), *value;
    json_t *b = asked_of(json_object_get(new_results->context, part)), *all = json_object();
    const char *key;
    if (a && b && (json_object_update(all, a) != 0 || json_object_update(all, b) != 0))
        *texts = th_json_append(*texts, NULL);
    json_object_foreach(all, key, value)
    {
        char name[96];
        snprintf(name, sizeof name, "%s.%s", part, key);
        if (!json_equal(json_object_get(a, key), json_object_get(b, key)))
            tell(texts, name, json_object_get(a, key), json_object_get(b, key), old_results, new_results);
    }
    json_decref(all);
    json_decref(a);
    json_decref(b);
}

/* Which conditions are equal, so that errors and palettes can be compared. */
typedef struct match {
    bool scene;
    bool isa;  /* for entries whose name does not say the kernel */
    bool libc; /* it took part in making clips and models; palettes may differ in the last bit otherwise */
} match;

/* ---- processes ---- */

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Measures the machine or other code: a loop without a scheduler, and other schedulers. */
static bool is_baseline(const char *name)
{
    if (has_prefix(name, "limit/") || has_prefix(name, "ceiling/") || has_prefix(name, "external/") ||
        has_prefix(name, "scale/memory_"))
        return true;
    if (!has_prefix(name, "jobs/"))
        return false;
    const char *scheduler = strrchr(name, '/') + 1;
    bool is_other = strcmp(scheduler, "plain") == 0;
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++)
        is_other =
            is_other || (s != TH_SCHEDULER_WORK_STEALING && strcmp(scheduler, th_scheduler_name((th_scheduler)s)) == 0);
    return is_other;
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

/* Wall time without the time that a thread was ready and had no CPU, since another program had it. CPU time of all
 * threads is in it in any case, so that threads of this program that take CPUs from each other are no excuse. */
static double own_ns(const th_result_file_entry *e, uint32_t i)
{
    const double real_ns = e->real_ns.values[i], queued_ns = e->queued_ns.count > 0 ? e->queued_ns.values[i] : 0;
    return fmin(real_ns, fmax(e->cpu_ns.values[i], real_ns - queued_ns));
}

/* The estimators of one process; all are of wall time but for the last. scratch: as large as the process. */
static void estimate(const th_result_file_entry *e, uint32_t first, uint32_t count, double *scratch, double *out)
{
    const uint32_t slowest = (count + 19) / 20;
    quantile_of(e->cpu_ns.values + first, count, 0.5, scratch); /* sorts */
    out[TH_ESTIMATOR_CPU] = (scratch[(count - 1) / 2] + scratch[count / 2]) / 2;
    for (uint32_t i = 0; i < count; i++)
        scratch[i] = own_ns(e, first + i);
    th_quantile(scratch, count, 0.5); /* sorts */
    out[TH_ESTIMATOR_MEDIAN] = scratch[0] > 0 ? (scratch[(count - 1) / 2] + scratch[count / 2]) / 2 : 0;
    double sum = 0;
    for (uint32_t i = count; i-- > 0;) {
        sum += scratch[i];
        if (i == count - slowest)
            out[TH_ESTIMATOR_WORST] = sum / slowest;
    }
    out[TH_ESTIMATOR_MEAN] = sum / count;
}

/* A process's core clock is the first quartile of its samples: the fastest of many may be a misreading. core_clock_ns:
 * the clock that all times are scaled to; 0: they are not scaled. A process with a repetition of 0, as a coarse clock
 * gives, is left out. False when memory is out. */
static bool values_init(process_values *v, const th_result_file_entry *e, double core_clock_ns)
{
    double *scratch = malloc((e->real_ns.count + (size_t)1) * sizeof *scratch);
    bool room = scratch;
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++)
        room = th_samples_init(&v->ns[i], e->process_count) && room;
    for (uint32_t p = 0, first = 0; room && p < e->process_count; first = e->ends[p++]) {
        const uint32_t count = e->ends[p] - first;
        if (count == 0)
            continue;
        const double scale =
            core_clock_ns > 0 ? core_clock_ns / quantile_of(e->core_clock_ns.values + first, count, 0.25, scratch) : 1;
        double values[TH_ESTIMATOR_COUNT] = {0};
        estimate(e, first, count, scratch, values);
        for (int i = 0; i < TH_ESTIMATOR_COUNT && values[TH_ESTIMATOR_MEDIAN] > 0; i++)
            if (values[i] > 0) /* work of the GPU takes no CPU time */
                th_samples_add(&v->ns[i], values[i] * scale);
    }
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

static void measure_change(const process_values values[2], const th_comparison *c, th_change *out)
{
    out->counts[0] = values[0].ns[0].count;
    out->counts[1] = values[1].ns[0].count;
    if (out->counts[0] == 0 || out->counts[1] == 0)
        return;
    out->verdict = is_baseline(out->name) ? TH_VERDICT_BASELINE : TH_VERDICT_INCONCLUSIVE;
    double drift = 0;
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++) {
        const th_samples *old_ns = &values[0].ns[i], *new_ns = &values[1].ns[i];
        th_change_estimate *e = &out->estimates[i];
        e->verdict = out->verdict;
        e->old_ns = geometric_mean(old_ns);
        e->new_ns = geometric_mean(new_ns);
        e->change = e->new_ns / e->old_ns - 1;
        if (old_ns->count < TH_COMPARE_MIN_PROCESSES || new_ns->count < TH_COMPARE_MIN_PROCESSES)
            continue;
        e->log_change = th_log_difference(new_ns, old_ns);
        if (i == TH_ESTIMATOR_MEDIAN && !c->interleaved)
            drift = e->log_change.error * sqrt(TH_COMPARE_DRIFT * TH_COMPARE_DRIFT - 1);
        e->log_change.error = hypot(e->log_change.error, drift);
        const th_interval ratio = th_log_interval(&e->log_change, 1 - (1 - TH_COMPARE_CONFIDENCE) / c->looks);
        e->interval = (th_interval){ratio.low - 1, ratio.high - 1};
        if (out->verdict != TH_VERDICT_BASELINE && i < TH_ESTIMATORS_JUDGED)
            e->p = fmin(1, th_log_p(&e->log_change) * c->looks);
    }
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

/* ---- palettes and errors ---- */

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

/* Returns whether there was something to compare. */
static bool check_palettes(const th_result_file_entry *a, const th_result_file_entry *b, const match *shared,
                           th_change *out)
{
    const double most = 1 + TH_COMPARE_ERROR_GROWTH;
    const bool same_work = shared->scene && (shared->isa || names_kernel(b->name));
    char *const problem = out->problem;
    const size_t size = sizeof out->problem;
    if (a->failure || !same_work)
        return false; /* the errors and palettes of a failure are wrong ones */
    const bool has_palettes = shared->libc && a->palette_hash && b->palette_hash;
    if (b->max_error > a->max_error * most)
        snprintf(problem, size, "its error grew from %.3g to %.3g", a->max_error, b->max_error);
    else if (b->error_vs_source > a->error_vs_source * most)
        snprintf(problem, size, "its error vs source grew from %.3g to %.3g", a->error_vs_source, b->error_vs_source);
    else if (has_palettes && strcmp(a->palette_hash, b->palette_hash) != 0)
        snprintf(problem, size, "its palettes changed: %s, was %s", b->palette_hash, a->palette_hash);
    else if (a->visible < b->visible || a->visible > b->visible)
        snprintf(problem, size, "its picture has %.0f characters, it had %.0f", b->visible, a->visible);
    out->has_same_palettes = has_palettes && !problem[0];
    return has_palettes || isfinite(b->max_error - a->max_error);
}

static th_change unknown_change(const char *name, th_verdict verdict, double threshold)
{
    const double nan = (double)NAN;
    th_change change = {
        .name = name, .verdict = verdict, .pixels = {TH_PIXELS_UNKNOWN, nan, nan, nan, nan}, .bytes = {nan, nan}};
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++) {
        const double most = threshold * (i == TH_ESTIMATOR_WORST ? 10 : 1);
        change.estimates[i] = (th_change_estimate){verdict, most, nan, nan, nan, {nan, nan}, nan, nan, {nan, nan, nan}};
    }
    return change;
}

/* ---- all of them ---- */

static int by_p(const void *a, const void *b)
{
    const double x = (*(th_change_estimate *const *)a)->p, y = (*(th_change_estimate *const *)b)->p;
    return (x > y) - (x < y);
}

static th_verdict verdict_of(const th_change *c)
{
    uint32_t equal = 0, faster = 0, no_slower = 0;
    for (int i = 0; i < TH_ESTIMATORS_JUDGED; i++) {
        const th_change_estimate *e = &c->estimates[i];
        if (e->verdict == TH_VERDICT_SLOWER)
            return TH_VERDICT_SLOWER;
        equal += e->verdict == TH_VERDICT_EQUIVALENT;
        faster += e->verdict == TH_VERDICT_FASTER;
        no_slower += e->interval.high < e->threshold;
    }
    if (equal == TH_ESTIMATORS_JUDGED)
        return TH_VERDICT_EQUIVALENT;
    return faster > 0 && no_slower == TH_ESTIMATORS_JUDGED ? TH_VERDICT_FASTER : TH_VERDICT_INCONCLUSIVE;
}

static bool states_times(const th_result_file *results)
{
    uint32_t i = 0;
    while (i < results->entry_count && results->entries[i].real_ns.count == 0)
        i++;
    return i < results->entry_count;
}

static bool is_timed(const th_change *c)
{
    return isfinite(c->estimates[TH_ESTIMATOR_MEDIAN].change);
}

/* *anything: whether there were times, palettes or pixels to compare; where both results have times, palettes alone do
 * not count. */
static bool compare_all(const th_compare_desc *desc, th_comparison *out, bool *anything)
{
    const bool of_times = states_times(desc->old_results) && states_times(desc->new_results);
    const th_result_file *a = desc->old_results, *b = desc->new_results;
    json_t *texts = json_array();
    compare_part(&texts, "scene", a, b);
    const match shared = {
        .scene = texts && json_array_size(texts) == 0,
        .isa = is_same(json_object_get(a->context, "isa"), json_object_get(b->context, "isa")),
        .libc = is_same(json_object_get(a->context, "libc"), json_object_get(b->context, "libc")),
    };
    json_decref(texts);
    regex_t regex;
    const bool is_filtered = desc->filter && regcomp(&regex, desc->filter, REG_EXTENDED | REG_NOSUB) == 0;
    out->changes = calloc((size_t)a->entry_count + b->entry_count, sizeof *out->changes);
    bool room = out->changes;
    for (uint32_t i = 0; i < b->entry_count && room; i++) {
        const th_result_file_entry *e = &b->entries[i], *old = th_result_file_find(a, e->name);
        if (is_filtered && regexec(&regex, e->name, 0, NULL, 0) != 0)
            continue;
        th_change *change = &out->changes[out->count++];
        *change = unknown_change(e->name, old ? TH_VERDICT_UNTIMED : TH_VERDICT_ONLY_NEW, out->threshold);
        if (e->failure)
            snprintf(change->problem, sizeof change->problem, "it failed: %s", e->failure);
        if (!old)
            continue;
        if (!e->failure)
            *anything |= check_palettes(old, e, &shared, change) && !of_times;
        /* Times that are gone, or nothing but 0, are not known to be no longer. */
        if (of_times && old->real_ns.count > 0 && !e->failure && !is_baseline(e->name))
            change->verdict = TH_VERDICT_INCONCLUSIVE;
        change->pixels = (th_pixel_change){TH_PIXELS_UNKNOWN, old->error_px_p99, e->error_px_p99, old->error_px_max,
                                           e->error_px_max};
        change->bytes[0] = old->bytes;
        change->bytes[1] = e->bytes;
        change->has_more_bytes = shared.scene && e->bytes > old->bytes * (1 + out->threshold);
        if (shared.scene && !old->failure && !e->failure)
            change->pixels.verdict = judge_pixels(&change->pixels, out->threshold);

        const bool has_clocks = old->core_clock_ns.count > 0 && e->core_clock_ns.count > 0;
        const double core_clock_ns = has_clocks ? th_samples_stats(&old->core_clock_ns).median : 0;
        process_values values[2];
        room = values_init(&values[0], old, core_clock_ns);
        room = values_init(&values[1], e, core_clock_ns) && room;
        if (room)
            measure_change(values, out, change);
        *anything |= is_timed(change) || (change->pixels.verdict && change->pixels.verdict <= TH_PIXELS_WORSE);
        values_fini(&values[0]);
        values_fini(&values[1]);
    }
    for (uint32_t i = 0; i < a->entry_count && room; i++)
        if (!th_result_file_find(b, a->entries[i].name) &&
            (!is_filtered || regexec(&regex, a->entries[i].name, 0, NULL, 0) == 0))
            out->changes[out->count++] = unknown_change(a->entries[i].name, TH_VERDICT_ONLY_OLD, out->threshold);
    if (is_filtered)
        regfree(&regex);
    if (!room)
        return false;

    th_change_estimate **tested = calloc((size_t)out->count * TH_ESTIMATOR_COUNT + 1, sizeof *tested);
    uint32_t count = 0;
    if (!tested)
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        for (int e = 0; e < TH_ESTIMATOR_COUNT; e++)
            if (isfinite(out->changes[i].estimates[e].p))
                tested[count++] = &out->changes[i].estimates[e];

    /* Holm's correction: the smallest p is multiplied by the number of estimates, the next by one less, and so on; none
     * may be below the one before. */
    double least = 0;
    qsort(tested, count, sizeof *tested, by_p);
    for (uint32_t i = 0; i < count; i++)
        tested[i]->p = least = fmin(1, fmax(least, tested[i]->p * (count - i)));
    for (uint32_t i = 0; i < count; i++) {
        th_change_estimate *e = tested[i];
        const double risk = TH_COMPARE_ALPHA / count / out->looks; /* of a false alarm by this estimate alone */
        const double most = e->threshold, rise = th_student_quantile(1 - risk, e->log_change.freedom);
        const double fall = 1 / (1 + most) - 1; /* thresholds are symmetric as ratios: 1.025 and 1 / 1.025 */
        e->detectable = fmax(most, exp(rise * e->log_change.error) - 1);
        if (e->p < TH_COMPARE_ALPHA && (e->change > most || e->change < fall))
            e->verdict = e->change > 0 ? TH_VERDICT_SLOWER : TH_VERDICT_FASTER;
        else if (e->interval.low > fall && e->interval.high < most)
            e->verdict = TH_VERDICT_EQUIVALENT;
    }
    free(tested);
    for (uint32_t i = 0; i < out->count; i++)
        if (out->changes[i].verdict == TH_VERDICT_INCONCLUSIVE)
            out->changes[i].verdict = out->identical ? TH_VERDICT_EQUIVALENT : verdict_of(&out->changes[i]);
    return true;
}

/* ---- reasons to doubt the verdicts ---- */

/* The median core clock over all timed entries of one side, as medians of each entry; 0 if one has none. */
static double core_clock_of(const th_comparison *c, const th_result_file *results)
{
    th_samples clocks;
    bool known = th_samples_init(&clocks, c->count);
    for (uint32_t i = 0; i < c->count && known; i++) {
        if (!is_timed(&c->changes[i]))
            continue;
        const th_result_file_entry *e = th_result_file_find(results, c->changes[i].name);
        known = e->core_clock_ns.count > 0;
        if (known)
            th_samples_add(&clocks, th_samples_stats(&e->core_clock_ns).median);
    }
    const double median = known && clocks.count > 0 ? th_samples_stats(&clocks).median : 0;
    th_samples_fini(&clocks);
    return median;
}

static bool judges_times(const th_comparison *c)
{
    const uint32_t *v = c->verdicts;
    return v[TH_VERDICT_EQUIVALENT] + v[TH_VERDICT_FASTER] + v[TH_VERDICT_INCONCLUSIVE] + v[TH_VERDICT_SLOWER] > 0;
}

/* NULL when memory is out. */
static json_t *warnings_of(const th_comparison *c)
{
    static const char conditions[] = "host_name system libc page_size huge_pages clock_source";
    const th_result_file *const sides[2] = {c->old_results, c->new_results};
    json_t *warnings = json_array();
    if (c->identical)
        return warnings;
    compare_fields(&warnings, conditions, sides[0], sides[1]);
    for (int s = 0; s < 2; s++)
        if (json_is_true(json_object_get(sides[s]->context, "partial")))
            th_json_append_format(&warnings, "%s is partial: its measurement was interrupted", sides[s]->name);
    for (int s = 0; s < 2; s++) {
        const double others = json_number_value(json_object_get(sides[s]->context, "external_cpu_load"));
        if (others > TH_REPORT_EXTERNAL_CPU_LOAD)
            th_json_append_format(&warnings, "external CPU load of %.2f CPUs while %s was measured", others,
                                  sides[s]->name);
    }

    /* Palettes that only one result has cannot be compared. */
    uint32_t missing = 0;
    for (uint32_t i = 0; i < sides[0]->entry_count; i++) {
        const th_result_file_entry *a = &sides[0]->entries[i], *b = th_result_file_find(sides[1], a->name);
        missing += b && !a->failure && !b->failure && !a->palette_hash != !b->palette_hash ? 1 : 0;
    }
    if (missing > 0)
        th_json_append_format(&warnings, "%u %s palettes in one result only; they are not compared", missing,
                              missing == 1 ? "entry has" : "entries have");
    if (!judges_times(c))
        return warnings;
    bool too_few = false;
    for (uint32_t i = 0; i < c->count; i++)
        for (int s = 0; s < 2 && is_timed(&c->changes[i]); s++) {
            const th_result_file_entry *e = th_result_file_find(sides[s], c->changes[i].name);
            const uint32_t count = c->changes[i].counts[s];
            too_few |= count < TH_COMPARE_MIN_PROCESSES;
            if (count < e->process_count)
                th_json_append_format(&warnings, "%s: %u of %u processes in %s have times of 0 and are left out",
                                      e->name, e->process_count - count, e->process_count, sides[s]->name);
        }

    /* Of times: the build, the clock, how many processes there are, and whether all entries changed. */
    for (int s = 0; s < 2; s++) {
        const char *build = json_string_value(json_object_get(sides[s]->context, "library_build_type"));
        if (build && strcmp(build, "debug") == 0)
            th_json_append_format(&warnings, "%s was built with assertions; measure a Release build", sides[s]->name);
    }

    /* Scaling would hide a program that makes the clock slower, as wide vector instructions may. */
    const double old_clock = core_clock_of(c, sides[0]), new_clock = core_clock_of(c, sides[1]);
    if (!(old_clock > 0 && new_clock > 0))
        th_json_append_format(
            &warnings,
            "the core clock is not in both results, so a change of the clock looks like a change of the code");
    else if (fabs(new_clock / old_clock - 1) > CORE_CLOCK_CHANGE)
        th_json_append_format(&warnings,
                              "the core clock was %.1f %% %s in %s: a step took %.3f ns, and %.3f ns in %s; times are "
                              "scaled to one clock, which hides this",
                              100 * fabs(new_clock / old_clock - 1), new_clock > old_clock ? "slower" : "faster",
                              sides[1]->name, new_clock, old_clock, sides[0]->name);

    if (too_few)
        th_json_append_format(&warnings,
                              "fewer than %d processes on a side decide nothing, as processes of one build differ by "
                              "more than their repetitions; measure %d (bench --processes, compare --run)",
                              TH_COMPARE_MIN_PROCESSES, TH_COMPARE_GOOD_PROCESSES);
    for (int s = 0; s < 2; s++)
        if (!sides[s]->is_ours)
            th_json_append_format(&warnings, "%s was written by another program, in one process", sides[s]->name);

    th_samples changes;
    const bool has_room = th_samples_init(&changes, c->count);
    for (uint32_t i = 0; has_room && i < c->count; i++)
        if (is_timed(&c->changes[i]))
            th_samples_add(&changes, c->changes[i].estimates[TH_ESTIMATOR_MEDIAN].change);
    if (changes.count >= FEWEST_FOR_COMMON) {
        const double *sorted = th_samples_sorted(&changes);
        const double low = sorted[changes.count / 10], high = sorted[changes.count - 1 - changes.count / 10];
        const double least = low > 0 ? low : high < 0 ? high : 0; /* nine of ten entries changed at least this much */
        if (fabs(least) > COMMON_CHANGE)
            th_json_append_format(
                &warnings,
                "nearly all entries are at least %.1f %% %s: that looks like the machine, or like the compiler",
                100 * fabs(least), least > 0 ? "slower" : "faster");
    }
    th_samples_fini(&changes);
    return warnings;
}

/* ---- the comparison ---- */

/* Whether both are one result, perhaps under two names. Processes that were appended are not in the documents. */
static bool are_one(const th_result_file *a, const th_result_file *b)
{
    bool same = json_equal(a->document, b->document);
    for (uint32_t i = 0; i < a->entry_count && same; i++) {
        const th_samples *x = &a->entries[i].real_ns, *y = &b->entries[i].real_ns;
        same =
            x->count == y->count && (x->count == 0 || memcmp(x->values, y->values, x->count * sizeof *x->values) == 0);
    }
    return same;
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
                           .identical = are_one(a, b),
                           .fail_on = desc->fail_on,
                           .differences = json_array()};

    /* What must not differ but does. Where a result has no times, only what palettes depend on matters. */
    static const char of_times[] = "cpu_model num_cpus cores threads_per_core numa_nodes caches usable_cpus "
                                   "cgroup_quota_cpus virtual_machine governor boost compiler compiler_flags "
                                   "build_type library_build_type isa repetition_ms repetition_frames";
    if (states_times(a) && states_times(b))
        compare_fields(&out->differences, of_times, a, b);
    compare_part(&out->differences, "scene", a, b);
    compare_part(&out->differences, "picture", a, b);
    for (uint32_t i = 0; i < b->entry_count; i++) {
        const th_result_file_entry *e = &b->entries[i], *old = th_result_file_find(a, e->name);
        char text[512];
        if (!old || old->threads == 0 || e->threads == 0)
            continue;
        if (old->threads != e->threads) {
            snprintf(text, sizeof text, "%.200s has %u thread%s in %.100s and %u in %.100s", e->name, old->threads,
                     th_plural(old->threads), a->name, e->threads, b->name);
            out->differences = th_json_append(out->differences, th_json_text(text));
        }
        if (old->characters != e->characters || old->bones != e->bones) {
            snprintf(text, sizeof text, "%.200s has other characters in %.100s than in %.100s", e->name, b->name,
                     a->name);
            out->differences = th_json_append(out->differences, th_json_text(text));
        }
    }

    /* Refused, or compared. */
    th_result result = TH_OK;
    bool anything = out->identical;
    const size_t conflicts = json_array_size(out->differences), shown = conflicts < 4 ? conflicts : 4;
    if (conflicts > 0 && !desc->force) {
        char text[sizeof err->text] = "";
        for (size_t i = 0; i < shown; i++)
            th_append(text, sizeof text, "%s%.*s", i ? "; " : "", (int)((sizeof text - 100) / shown),
                      json_string_value(json_array_get(out->differences, i)));
        if (conflicts > shown)
            th_append(text, sizeof text, "; and %zu more", conflicts - shown);
        result = th_fail(err, TH_ERR_INPUT, "not measured under the same conditions: %s", text);
    } else if (!out->differences || !compare_all(desc, out, &anything))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u entries", a->entry_count + b->entry_count);
    for (uint32_t i = 0; i < out->count && result == TH_OK; i++) {
        out->verdicts[out->changes[i].verdict]++;
        out->pixels[out->changes[i].pixels.verdict]++;
        out->problems += out->changes[i].problem[0] != '\0';
        out->same_palettes += out->changes[i].has_same_palettes;
        out->more_bytes += out->changes[i].has_more_bytes;
    }
    if (result == TH_OK && out->verdicts[TH_VERDICT_ONLY_OLD] + out->verdicts[TH_VERDICT_ONLY_NEW] == out->count)
        result = th_fail(err, TH_ERR_INPUT, "%s and %s have no entry in common%s", a->name, b->name,
                         out->count > 0 ? "" : " that the filter lets through");
    else if (result == TH_OK && !anything && out->problems == 0)
        result = th_fail(err, TH_ERR_INPUT, "%s and %s have no entry in common with %s", a->name, b->name,
                         states_times(a) && states_times(b) ? "times above 0" : "palettes of the same conditions");
    if (result == TH_OK && !(out->warnings = warnings_of(out)))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for the warnings");
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

th_outcome th_verdict_outcome(const th_comparison *c, const th_change *change)
{
    assert(c && change);
    if (change->verdict == TH_VERDICT_SLOWER && c->fail_on <= TH_FAIL_ON_SLOWER)
        return TH_OUTCOME_BAD;
    /* What was not compared at all does not pass where only the undecided may. */
    const bool is_open = change->verdict == TH_VERDICT_INCONCLUSIVE;
    const bool is_untested = (change->verdict == TH_VERDICT_ONLY_OLD && !is_baseline(change->name)) ||
                             (is_open && isnan(change->estimates[TH_ESTIMATOR_MEDIAN].p));
    const th_fail_on most = is_untested ? TH_FAIL_ON_SLOWER : TH_FAIL_ON_INCONCLUSIVE;
    return (is_open || is_untested) && c->fail_on <= most ? TH_OUTCOME_INCONCLUSIVE : TH_OUTCOME_GOOD;
}

th_outcome th_comparison_outcome(const th_comparison *c)
{
    assert(c);
    if (c->problems > 0 || (c->fail_on <= TH_FAIL_ON_SLOWER && c->pixels[TH_PIXELS_WORSE] + c->more_bytes > 0))
        return TH_OUTCOME_BAD;
    const bool only_baselines = c->verdicts[TH_VERDICT_BASELINE] > 0 && !judges_times(c) && !c->identical;
    th_outcome worst = only_baselines && c->fail_on <= TH_FAIL_ON_SLOWER ? TH_OUTCOME_INCONCLUSIVE : TH_OUTCOME_GOOD;
    for (uint32_t i = 0; i < c->count; i++) {
        const th_outcome one = th_verdict_outcome(c, &c->changes[i]);
        worst = one > worst ? one : worst;
    }
    return worst;
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
    static const char *const names[] = {"median", "mean", "worst 5 %", "CPU time"};
    return names[estimator];
}

void th_change_describe(const th_change *c, char *out, size_t size)
{
    assert(c && out);
    th_append(out, size, "%s", th_verdict_name(c->verdict));
    const uint32_t fewest = c->counts[0] < c->counts[1] ? c->counts[0] : c->counts[1];
    const bool is_inconclusive = c->verdict == TH_VERDICT_INCONCLUSIVE;
    if (is_inconclusive && fewest < TH_COMPARE_MIN_PROCESSES)
        th_append(out, size, ": %u process%s%s", fewest, fewest == 1 ? "" : "es",
                  fewest > 0 ? "" : " with times above 0");
    else if (is_inconclusive || c->verdict == TH_VERDICT_SLOWER) {
        /* Which estimators have the entry's verdict. CPU time tells whether work grew, or waiting. */
        const char *before = ": ";
        const double cpu = c->estimates[TH_ESTIMATOR_CPU].change;
        for (int i = 0; i < TH_ESTIMATORS_JUDGED; i++) {
            const th_change_estimate *e = &c->estimates[i];
            if (e->verdict != c->verdict)
                continue;
            th_append(out, size, "%s%s", before, th_estimator_name((th_estimator)i));
            if (is_inconclusive)
                th_append(out, size, " sees %.1f %%", 100 * e->detectable);
            before = ", ";
        }
        if (!is_inconclusive && isfinite(cpu))
            th_append(out, size, "; CPU time %+.1f %%", 100 * cpu);
    }
}
