#include "compare_warnings.h"

#include "environment_diff.h"

#include <core/json.h>

#include <math.h>
#include <string.h>

/* The core clock is scaled away up to here without a word. */
#define CORE_CLOCK_CHANGE 0.02

/* If nearly all entries have changed by this much in one direction, the machine has probably changed rather than all of
 * the code. */
#define COMMON_CHANGE 0.02
enum { FEWEST_FOR_COMMON = 4 };

/* ---- the results ---- */

static void warn_of_external_load(const th_result_file *results, json_t **warnings)
{
    const double others = json_number_value(json_object_get(results->context, "external_cpu_load"));
    if (others > TH_REPORT_EXTERNAL_CPU_LOAD)
        th_json_append_format(warnings, "external CPU load of %.2f CPUs while %s was measured", others, results->name);
}

static void warn_of_build(const th_result_file *results, json_t **warnings)
{
    const char *build = json_string_value(json_object_get(results->context, "library_build_type"));
    if (build && strcmp(build, "debug") == 0)
        th_json_append_format(warnings, "%s was built with assertions; measure a Release build", results->name);
}

static bool is_timed(const th_change *c)
{
    return isfinite(c->estimates[TH_ESTIMATOR_CORE].change);
}

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

/* Scaling would hide a program that makes the clock slower, as wide vector instructions may. */
static void warn_of_core_clock(const th_comparison *c, json_t **warnings)
{
    const double a = core_clock_of(c, c->old_results), b = core_clock_of(c, c->new_results);
    if (!(a > 0 && b > 0))
        th_json_append_format(
            warnings,
            "the core clock is not in both results, so a change of the clock looks like a change of the code");
    else if (fabs(b / a - 1) > CORE_CLOCK_CHANGE)
        th_json_append_format(warnings,
                              "the core clock was %.1f %% %s in %s: a step took %.3f ns, and %.3f ns in %s; times are "
                              "scaled to one clock, which hides this",
                              100 * fabs(b / a - 1), b > a ? "slower" : "faster", c->new_results->name, b, a,
                              c->old_results->name);
}

/* ---- the entries ---- */

static uint32_t count_timed(const th_comparison *c)
{
    const uint32_t *v = c->verdicts;
    return v[TH_VERDICT_EQUIVALENT] + v[TH_VERDICT_FASTER] + v[TH_VERDICT_INCONCLUSIVE] + v[TH_VERDICT_SLOWER];
}

static void warn_of_few_processes(const th_comparison *c, json_t **warnings)
{
    const th_result_file *const sides[2] = {c->old_results, c->new_results};
    bool too_few = false;
    for (uint32_t i = 0; i < c->count; i++)
        for (int s = 0; s < 2; s++)
            too_few = too_few || (is_timed(&c->changes[i]) && c->changes[i].counts[s] < TH_COMPARE_MIN_PROCESSES);
    if (too_few)
        th_json_append_format(warnings,
                              "fewer than %d processes on a side decide nothing, as processes of one build differ by "
                              "more than their repetitions; measure %d (bench --processes, compare --run)",
                              TH_COMPARE_MIN_PROCESSES, TH_COMPARE_GOOD_PROCESSES);
    for (int s = 0; s < 2; s++)
        if (!sides[s]->is_ours)
            th_json_append_format(warnings, "%s was written by another program, in one process", sides[s]->name);
}

/* Palettes that only one result has cannot be compared. */
static void warn_of_missing_palettes(const th_comparison *c, json_t **warnings)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->old_results->entry_count; i++) {
        const th_result_file_entry *a = &c->old_results->entries[i], *b = th_result_file_find(c->new_results, a->name);
        count += b && !a->failure && !b->failure && !a->palette_hash != !b->palette_hash ? 1 : 0;
    }
    if (count > 0)
        th_json_append_format(warnings, "%u %s palettes in one result only; they are not compared", count,
                              count == 1 ? "entry has" : "entries have");
}

static void warn_of_common_change(const th_comparison *c, json_t **warnings)
{
    th_samples changes;
    const bool has_room = th_samples_init(&changes, c->count);
    for (uint32_t i = 0; has_room && i < c->count; i++)
        if (is_timed(&c->changes[i]))
            th_samples_add(&changes, c->changes[i].estimates[TH_ESTIMATOR_CORE].change);
    if (changes.count >= FEWEST_FOR_COMMON) {
        const double *sorted = th_samples_sorted(&changes);
        const double low = sorted[changes.count / 10], high = sorted[changes.count - 1 - changes.count / 10];
        const double least = low > 0 ? low : high < 0 ? high : 0; /* nine of ten entries changed at least this much */
        if (fabs(least) > COMMON_CHANGE)
            th_json_append_format(
                warnings,
                "nearly all entries are at least %.1f %% %s: that looks like the machine, or like the compiler",
                100 * fabs(least), least > 0 ? "slower" : "faster");
    }
    th_samples_fini(&changes);
}

static void warn_of_interruption(const th_result_file *results, json_t **warnings)
{
    if (json_is_true(json_object_get(results->context, "partial")))
        th_json_append_format(warnings, "%s is partial: its measurement was interrupted", results->name);
}

json_t *th_compare_warnings(const th_comparison *c)
{
    json_t *warnings = th_environment_warnings(c->old_results, c->new_results);
    warn_of_interruption(c->old_results, &warnings);
    warn_of_interruption(c->new_results, &warnings);
    warn_of_external_load(c->old_results, &warnings);
    warn_of_external_load(c->new_results, &warnings);
    warn_of_missing_palettes(c, &warnings);
    if (count_timed(c) == 0)
        return warnings;
    warn_of_build(c->old_results, &warnings);
    warn_of_build(c->new_results, &warnings);
    warn_of_core_clock(c, &warnings);
    warn_of_few_processes(c, &warnings);
    warn_of_common_change(c, &warnings);
    return warnings;
}
