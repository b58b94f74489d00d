#include "compare_warnings.h"

#include "environment_diff.h"

#include <throng/core/json.h>

#include <math.h>
#include <string.h>

/* Noise floors above this are reported: they hide changes up to it. */
#define NOISY 0.05

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

static void warn_of_core_clock(const th_comparison *c, json_t **warnings)
{
    bool lacks = false;
    for (uint32_t i = 0; i < c->count; i++) {
        const th_result_file_entry *a = th_result_file_find(c->old_results, c->changes[i].name);
        const th_result_file_entry *b = th_result_file_find(c->new_results, c->changes[i].name);
        lacks =
            lacks || (isfinite(c->changes[i].change) && (a->core_clock_ns.count == 0 || b->core_clock_ns.count == 0));
    }
    if (lacks)
        th_json_append_format(
            warnings,
            "the core clock is not in both results, so a change of the clock looks like a change of the code");
}

/* ---- the entries ---- */

static uint32_t count_timed(const th_comparison *c)
{
    const uint32_t *v = c->verdicts;
    return v[TH_VERDICT_SAME] + v[TH_VERDICT_REGRESSION] + v[TH_VERDICT_GAIN] + v[TH_VERDICT_UNKNOWN];
}

static void warn_of_few_processes(const th_comparison *c, json_t **warnings)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (isfinite(c->changes[i].change) && c->changes[i].unit == TH_UNIT_REPETITION) {
            th_json_append_format(warnings,
                                  "with fewer than %d processes on each side changes below %.0f %% are ignored, as "
                                  "processes may differ by "
                                  "that much; to see smaller ones use %d processes (bench --processes)",
                                  TH_COMPARE_MIN_PROCESSES, 100 * TH_COMPARE_PROCESS_NOISE, TH_COMPARE_GOOD_PROCESSES);
            return;
        }
}

static void warn_of_low_power(const th_comparison *c, json_t **warnings)
{
    const th_change *worst = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        const th_change *change = &c->changes[i];
        if (change->verdict == TH_VERDICT_UNKNOWN &&
            (!worst || change->counts[0] + change->counts[1] < worst->counts[0] + worst->counts[1]))
            worst = change;
    }
    if (worst)
        th_json_append_format(
            warnings,
            "%u of %u entries cannot show a significant change, however large: for that many entries %u against %u %s "
            "are too few; measure more, or fewer entries",
            c->verdicts[TH_VERDICT_UNKNOWN], count_timed(c), worst->counts[0], worst->counts[1],
            worst->unit == TH_UNIT_PROCESS ? "processes" : "repetitions");
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

static void warn_of_noise(const th_comparison *c, json_t **warnings)
{
    const th_change *worst = NULL;
    uint32_t wide = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->changes[i].unit == TH_UNIT_PROCESS && c->changes[i].floor > NOISY) {
            wide++;
            worst = worst && worst->floor > c->changes[i].floor ? worst : &c->changes[i];
        }
    if (worst)
        th_json_append_format(
            warnings,
            "%u of %u entries have a noise floor above %.0f %%, which hides smaller changes (worst: %s, %.3g %%)", wide,
            count_timed(c), 100 * NOISY, worst->name, 100 * worst->floor);
}

static void warn_of_common_change(const th_comparison *c, json_t **warnings)
{
    th_samples changes;
    const bool has_room = th_samples_init(&changes, c->count);
    for (uint32_t i = 0; has_room && i < c->count; i++)
        if (isfinite(c->changes[i].change))
            th_samples_add(&changes, c->changes[i].change);
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
    warn_of_low_power(c, &warnings);
    warn_of_noise(c, &warnings);
    warn_of_common_change(c, &warnings);
    return warnings;
}
