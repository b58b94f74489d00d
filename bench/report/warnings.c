/* The warnings of a report, as text. */
#include "figures.h"

#include <bench/rank_test.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* Clock steps in a timed interval: with fewer, the clock's resolution is more than 1 % of it. */
#define FEWEST_STEPS 100

/* DRIFT: a larger difference between the halves of a measurement is reported, unless it may be chance. DRIFT_RISK: the
 * probability of any false report in a run; it is divided among the entries. */
#define DRIFT      0.02
#define DRIFT_RISK 0.01

/* An answer takes the frames, some microseconds for the way, and a checksum. */
#define LEAST_TOLD 0.5

/* "0.9 %", "7 %", "110 %" */
typedef struct percent {
    char text[24];
} percent;

static percent percent_of(double part)
{
    percent p;
    snprintf(p.text, sizeof p.text, 100 * part < 10 ? "%.2g %%" : "%.0f %%", 100 * part);
    return p;
}

/* ---- the samples ---- */

/* Rows with the same warning, and the worst of them. */
typedef struct tally {
    uint32_t count;
    const th_row *worst;
    double value; /* of `worst` */
} tally;

static void count(tally *t, const th_row *row, double value)
{
    if (t->count++ == 0 || value > t->value) {
        t->worst = row;
        t->value = value;
    }
}

/* The difference of the halves of the samples, relative to the median; 0 where it may be chance. */
static double drift_of(const th_row *row, double risk)
{
    const uint32_t half = row->real_ns.count / 2;
    th_samples first, second;
    double drift = 0;
    bool room = th_samples_init(&first, half);
    room = th_samples_init(&second, half) && room;
    for (uint32_t i = 0; i < half && room; i++) {
        th_samples_add(&first, row->real_ns.values[i]);
        th_samples_add(&second, row->real_ns.values[row->real_ns.count - half + i]);
    }
    if (room && th_rank_test_run(&first, &second).p < risk)
        drift = th_samples_stats(&second).median / th_samples_stats(&first).median - 1;
    th_samples_fini(&first);
    th_samples_fini(&second);
    return drift;
}

static bool is_timed(const th_row *row)
{
    return row->real_ns.count > 0 && !row->failure[0];
}

/* Wall time of one thread in which it did not run, longer than a reading of the clocks; 0 where it is unknown. */
static double waited_ns_of(const th_row *row)
{
    const double ns = th_samples_stats(&row->real_ns).median - th_samples_stats(&row->cpu_ns).median;
    const bool is_known = row->threads == 1 && !row->has_helpers && row->core_clock_ns.count > 0;
    return is_known && ns * row->iterations_timed_at_once > 20000 ? ns : 0;
}

static void warn_of_samples(const th_report *report, json_t **warnings)
{
    tally few = {0}, vague = {0}, coarse = {0}, drifting = {0}, waiting = {0};
    const double wanted = report->precision > 0 ? report->precision : 0.05;
    const double step_ns = (double)report->context.clock_step_ns;
    uint32_t timed = 0;
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (!is_timed(row))
            continue;
        timed++;
        const double precision = th_row_ci_half_width(row);
        const double drift = drift_of(row, DRIFT_RISK / report->row_count);
        const double steps = th_samples_stats(&row->real_ns).min * row->iterations_timed_at_once / step_ns;
        if (row->real_ns.count < TH_REPORT_MIN_REPETITIONS)
            count(&few, row, -(double)row->real_ns.count);
        else if (precision > wanted)
            count(&vague, row, precision);
        if (steps < FEWEST_STEPS)
            count(&coarse, row, -steps);
        if (fabs(drift) > DRIFT)
            count(&drifting, row, fabs(drift));
        const double waited_ns = waited_ns_of(row), ns = th_samples_stats(&row->real_ns).median;
        if (waited_ns > TH_REPORT_ONE_THREAD * ns)
            count(&waiting, row, waited_ns / ns);
    }
    if (few.count > 0)
        th_json_append_format(warnings, "%u entr%s fewer than %d repetitions, too few to compare", few.count,
                              few.count == 1 ? "y has" : "ies have", TH_REPORT_MIN_REPETITIONS);
    if (vague.count > 0)
        th_json_append_format(warnings, "%u of %u median%s %s a 95 %% CI wider than +-%s (worst: %s, +-%s)",
                              vague.count, timed, th_plural(timed), vague.count == 1 ? "has" : "have",
                              percent_of(wanted).text, vague.worst->name, percent_of(vague.value).text);
    if (coarse.count > 0)
        th_json_append_format(warnings, "the clock's resolution of %.0f ns is too coarse for %u entr%s (worst: %s)",
                              step_ns, coarse.count, coarse.count == 1 ? "y" : "ies", coarse.worst->name);
    if (drifting.count > 0)
        th_json_append_format(
            warnings, "%u entr%s not stable: the second half of the repetitions of %s differs by %s from the first",
            drifting.count, drifting.count == 1 ? "y was" : "ies were", drifting.worst->name,
            percent_of(drifting.value).text);
    if (waiting.count > 0)
        th_json_append_format(warnings, "%u entr%s of one thread waited for a CPU or slept: %s for %s of its time",
                              waiting.count, waiting.count == 1 ? "y" : "ies", waiting.worst->name,
                              percent_of(waiting.value).text);
}

/* ---- all of them ---- */

json_t *th_report_warnings(const th_report *report)
{
    assert(report);
    json_t *warnings = json_array();
    const th_context *context = &report->context;
    const th_row *skipped = th_report_skipped(report);
    uint32_t timed = 0, skipped_count = 0, threads = 0;
    bool stands_still = false;
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        timed += row->real_ns.count > 0;
        skipped_count += row->skipped;
        threads = row->threads > threads ? row->threads : threads;
        stands_still = stands_still || (row->checked && !row->moving && !row->failure[0]);
    }
    if (report->is_partial)
        th_json_append_format(&warnings,
                              "partial result: the measurement was interrupted; %u of %u entr%s measured, in "
                              "%u process%s",
                              timed, report->row_count, report->row_count == 1 ? "y was" : "ies were",
                              report->process_count, report->process_count == 1 ? "" : "es");

    size_t index;
    const json_t *model;
    const char *sampling = json_string_value(json_object_get(report->scene, "sampling"));
    json_array_foreach(json_object_get(report->scene, "models"), index, model)
    {
        const int exact = (int)json_integer_value(json_object_get(model, "exact_clips"));
        const int clips = (int)json_integer_value(json_object_get(model, "clips"));
        if (exact > 0 && strcmp(sampling, "compiled") == 0)
            th_json_append_format(&warnings,
                                  "%d of %d clip%s of %s cannot be compiled within the error bound and play%s exact",
                                  exact, clips, th_plural((uint64_t)clips),
                                  json_string_value(json_object_get(model, "name")), exact == 1 ? "s" : "");
    }
    if (skipped_count > 1)
        th_json_append_format(&warnings, "%s and %u more were skipped: %s", skipped->name, skipped_count - 1,
                              skipped->failure);
    else if (skipped_count == 1)
        th_json_append_format(&warnings, "%s was skipped: %s", skipped->name, skipped->failure);
    if (stands_still)
        th_json_append_format(&warnings, "nothing moves: this is the cost of a crowd at rest");
    if (report->is_dry_run)
        return warnings;

        /* The build and the machine. */
#ifndef NDEBUG
    th_json_append_format(&warnings, "built with assertions; measure a Release build");
#endif
    if (threads > context->cpus.usable)
        th_json_append_format(&warnings, "%u threads share %u usable CPU%s, so they take turns", threads,
                              context->cpus.usable, th_plural(context->cpus.usable));
    if (context->nice > 0)
        th_json_append_format(&warnings, "nice %d: programs without it go first", context->nice);
    const th_interference *outside = &report->interference;
    if (outside->external_cpu_load > TH_REPORT_EXTERNAL_CPU_LOAD)
        th_json_append_format(&warnings, "external CPU load: other programs used %.2f CPUs",
                              outside->external_cpu_load);
    else if (isnan(outside->external_cpu_load) && context->load[0] > 0.5)
        th_json_append_format(&warnings, "the load average was %.1f before, and the external CPU load is unknown",
                              context->load[0]);
    if (outside->steal_cpu_load > 0.01)
        th_json_append_format(&warnings, "steal: the hypervisor withheld %.2f CPUs", outside->steal_cpu_load);
    if (outside->throttled_s > 0)
        th_json_append_format(&warnings, "the cgroup's quota throttled threads for %.2f s", outside->throttled_s);
    if (context->governor[0] && strcmp(context->governor, "performance") != 0)
        th_json_append_format(&warnings, "the clock changes with the load (governor %s)", context->governor);
    if (context->boost == TH_BOOST_ON)
        th_json_append_format(&warnings, "the clock changes with heat and with how many cores are busy (boost is on)");

    warn_of_samples(report, &warnings);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        const bool is_below = strncmp(row->name, "pose/", 5) == 0 && th_row_is_below_floor(report, row);
        if (row->impossible || is_below)
            th_json_append_format(&warnings,
                                  "%s of %s is left out, since it cannot be: what it is held against was disturbed; "
                                  "measure again",
                                  is_below ? "the memory floor" : row->impossible, row->name);
    }
    /* Other programs say how long their frames took, and we know how long the answer took. */
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        const double share = th_row_own(row, "told_share");
        if (is_timed(row) && share < LEAST_TOLD)
            th_json_append_format(&warnings, "%s says that its frames took at most %s of the time until its answers",
                                  row->name, percent_of(share).text);
    }
    return warnings;
}
