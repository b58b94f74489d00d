#include "stress_headline.h"

#include <core/json.h>

#include <assert.h>
#include <math.h>

enum { MOST_NAMES = 3 };

const char *th_stress_frame_name(const th_stress *stress)
{
    assert(stress);
    return stress->drawn ? "drawn" : "posed";
}

/* Rounds to the digits shown; outwards, so that the interval never becomes narrower. */
static uint32_t round_to_digits(double value, bool up)
{
    const double unit = value >= 1000 ? pow(10, floor(log10(value)) - 2) : 1;
    return (uint32_t)(unit * (up ? ceil(value / unit) : floor(value / unit)));
}

bool th_stress_interval(const th_stress_point *point, uint32_t *out_low, uint32_t *out_high)
{
    assert(point && out_low && out_high);
    const th_interval *interval = &point->search.interval;
    if (!(interval->low >= 0 && interval->high < 1e9) || point->out_of_memory)
        return false;
    *out_low = round_to_digits(interval->low, false);
    *out_high = round_to_digits(interval->high, true);
    return true;
}

static void add_models(char *line, size_t size, const json_t *scene)
{
    size_t index;
    const json_t *model, *models = json_object_get(scene, "models");
    json_array_foreach(models, index, model)
    {
        if (index == MOST_NAMES) {
            th_append(line, size, " and %zu more", json_array_size(models) - MOST_NAMES);
            return;
        }
        const int entries = (int)json_integer_value(json_object_get(model, "bones"));
        th_append(line, size, "%s%s, %d %s", index == 0 ? "" : "; ", json_string_value(json_object_get(model, "name")),
                  entries, entries == 1 ? "bone" : "bones");
    }
}

/* ---- doubts ---- */

static void doubt_machine(const th_stress *stress, const th_stress_point *point, json_t **doubts)
{
    const th_interference *outside = &stress->report.interference;
    const uint32_t cpus = stress->report.context.cpus.usable;
    if (outside->external_cpu_load > TH_REPORT_EXTERNAL_CPU_LOAD)
        th_json_append_format(doubts, "other programs used %.2f CPUs", outside->external_cpu_load);
    if (outside->steal_cpu_load > 0.01)
        th_json_append_format(doubts, "the hypervisor withheld %.2f CPUs", outside->steal_cpu_load);
    if (outside->throttled_s > 0)
        th_json_append_format(doubts, "the cgroup's quota throttled threads for %.2f s", outside->throttled_s);
    if (cpus > 0 && point->threads > cpus)
        th_json_append_format(doubts, "%u threads share %u CPU%s", point->threads, cpus, th_plural(cpus));
}

json_t *th_stress_doubts(const th_stress *stress, const th_stress_point *point)
{
    assert(stress && point);
    json_t *doubts = json_array();
    const th_capacity *search = &point->search;
    const th_capacity_ticks *all = &search->ticks;
    const double preempted = 100.0 * point->preempted / point->ticks.frames;
    if (all->freezes > 0)
        th_json_append_format(&doubts, "the process did not run for %.3g s in all, %.3g s at once",
                              all->frozen_ns / 1e9, all->longest_freeze_ns / 1e9);
    if (preempted > 100 * TH_CAPACITY_MISS_RATE)
        th_json_append_format(&doubts, "in %.*f %% of the frames a thread waited for a CPU", preempted < 10, preempted);
    doubt_machine(stress, point, &doubts);
    if (search->runs > 0 && !search->is_stable)
        th_json_append_format(&doubts, "the worst of %u runs suggests %s, the best %s", search->runs,
                              th_digits_from(search->worst_run).text, th_digits_from(search->best_run).text);
    return doubts;
}

void th_stress_add_doubts(const th_stress *stress, const th_stress_point *point, char *line, size_t size)
{
    json_t *doubts = th_stress_doubts(stress, point);
    for (size_t i = 0; i < json_array_size(doubts); i++)
        th_append(line, size, "%s%s", i == 0 ? "not reproducible (" : "; ",
                  json_string_value(json_array_get(doubts, i)));
    if (json_array_size(doubts) > 0)
        th_append(line, size, ")");
    json_decref(doubts);
}

/* ---- the sentence ---- */

/* "134,000 posed characters meet", "Not even one posed character meets", "20,000 drawn characters do not meet". */
static void add_result(char *line, size_t size, const char *what, const th_stress_point *point)
{
    const bool one = point->characters == 1;
    if (point->search.is_frozen) {
        th_append(line, size, "Freezes failed every run, so it is unknown how many %s characters meet", what);
        return;
    }
    if (point->characters == 0)
        th_append(line, size, "Not even one %s character", what);
    else
        th_append(line, size, "%s %s character%s", th_digits_from(point->characters).text, what, one ? "" : "s");
    if (point->meets_budget || point->characters == 0)
        th_append(line, size, " %s", one || point->characters == 0 ? "meets" : "meet");
    else
        th_append(line, size, " %s not meet", one ? "does" : "do");
}

/* The allowed misses are fewer than one percent, because so few ticks leave uncertainty. So p99 may be within a budget
 * that is not met; the headline then gives the misses. */
static void add_misses(char *line, size_t size, const th_stress_point *point)
{
    const th_capacity_ticks *ticks = &point->ticks;
    th_append(line, size, ", with %s of %s ticks missed where %u are allowed", th_digits_from(ticks->missed).text,
              th_digits_from(ticks->scheduled).text, th_capacity_allowed_misses(ticks->scheduled));
}

/* The longest freeze of the picture, whatever its cause, where there was one. */
static void add_times(char *line, size_t size, const th_stress_point *point)
{
    th_append(line, size, ": p99 of %.4g ms", point->times.p99 / 1e6);
    if (point->ticks.missed > 0)
        th_append(line, size, ", longest freeze %.4g ms,", point->ticks.longest_ns / 1e6);
}

/* "Not reproducible (...): " */
static void add_reservation(char *line, size_t size, const th_stress *stress, const th_stress_point *point)
{
    th_stress_add_doubts(stress, point, line, size);
    if (line[0]) {
        line[0] = 'N';
        th_append(line, size, ": ");
    }
}

bool th_stress_shares(const th_stress *stress)
{
    assert(stress);
    bool shares = stress->share_hz > 0;
    for (uint32_t i = 0; i < stress->point_count; i++)
        shares |= stress->points[i].poses.shared > 0 || stress->points[i].poses.held > 0;
    return shares;
}

static void add_point(char *line, size_t size, const th_stress *stress, const th_stress_point *point)
{
    const double budget_ms = stress->budget_ns / 1e6;
    const th_context *context = &stress->report.context;
    uint32_t low, high;
    add_reservation(line, size, stress, point);
    add_result(line, size, th_stress_frame_name(stress), point);
    th_append(line, size, " %.4g ms (%.4g Hz)", budget_ms, 1000 / budget_ms);
    if (th_stress_shares(stress))
        th_append(line, size,
                  point->poses.held > 0 ? ", of which %s are posed in a frame" : ", showing %s poses that they share",
                  th_digits_from(point->poses.evaluated).text);
    if (stress->share_hz > 0)
        th_append(line, size, point->poses.held > 0 ? ", sharing at %g Hz" : " at %g Hz", stress->share_hz);
    if (point->poses.tolerance_px > 0)
        th_append(line, size, " within %g pixels", point->poses.tolerance_px);
    if (point->error_count > 0)
        th_append(line, size, ", with an error on screen of %.2g pixels (p99)", point->error.p99_px);
    if (th_stress_interval(point, &low, &high))
        th_append(line, size, ", 95 %% CI %s to %s", th_digits_from(low).text, th_digits_from(high).text);
    if (point->ticks.frames > 0 && point->characters > 0 && !point->meets_budget)
        add_misses(line, size, point);
    if (point->ticks.frames > 0)
        add_times(line, size, point);
    th_append(line, size, " on %u thread%s (", point->threads, th_plural(point->threads));
    add_models(line, size, stress->report.scene);
    if (stress->report.picture) {
        th_append(line, size, "; ");
        th_report_add_picture(stress->report.picture, line, size);
    }
    th_append(line, size, "; %s, %s, %s; throng %s)", context->cpu[0] ? context->cpu : "unknown CPU",
              th_isa_name(stress->isa), th_palette_name(stress->palette), th_context_version());
}

/* What its short tests say; nothing of it is confirmed. */
static void add_interrupted(char *line, size_t size, const th_stress *stress)
{
    const th_stress_point *point = th_stress_interrupted(stress);
    const uint32_t passed = point->search.passed, failed = point->search.failed;
    th_append(line, size, "%sThe search on %u thread%s was interrupted", line[0] ? ". " : "", point->threads,
              th_plural(point->threads));
    if (passed == 0 && failed == 0) {
        th_append(line, size, " at its first tests");
        return;
    }
    th_append(line, size, "; in its short tests, not confirmed, ");
    if (passed > 0)
        th_append(line, size, "%s character%s met the budget%s", th_digits_from(passed).text, th_plural(passed),
                  failed > 0 ? " and " : "");
    if (failed > 0)
        th_append(line, size, "%s missed it", th_digits_from(failed).text);
}

void th_stress_write_headline(th_stress *stress, const th_stress_point *point)
{
    stress->headline[0] = '\0';
    if (point)
        add_point(stress->headline, sizeof stress->headline, stress, point);
    else if (th_report_failure(&stress->report))
        th_append(stress->headline, sizeof stress->headline, "The palettes are wrong, so the times mean nothing.");
    if (th_stress_interrupted(stress))
        add_interrupted(stress->headline, sizeof stress->headline, stress);
}
