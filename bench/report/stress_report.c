/* A stress test as JSON and text. */
#include "counter_table.h"
#include "figures.h"
#include "own_json.h"
#include "tables.h"

#include <assert.h>
#include <math.h>

/* ---- figures ---- */

static json_t *probe_json(const th_capacity_probe *p)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:o}", "stage", th_capacity_stage_name(p->stage),
                     "characters", (int)p->items, "ticks", (int)p->ticks.scheduled, "frames", (int)p->ticks.frames,
                     "deadline_misses", (int)p->ticks.missed, "meets_budget", p->meets_budget, "median_ms",
                     th_json_real(p->median_ns / 1e6), "p99_ms", th_json_real(p->p99_ns / 1e6), "frozen_ms",
                     th_json_real(p->ticks.frozen_ns / 1e6));
}

static json_t *probes_json(const th_capacity *search)
{
    json_t *probes = json_array();
    for (uint32_t i = 0; i < search->probe_count; i++)
        probes = th_json_append(probes, probe_json(&search->probes[i]));
    return probes;
}

static json_t *errors_json(const th_stress_point *p)
{
    json_t *errors = json_array();
    for (uint32_t i = 0; i < p->error_count; i++) {
        const th_stress_error *e = &p->errors[i];
        errors = th_json_append(errors, json_pack("{s:i, s:o, s:o, s:o}", "frame", (int)e->frame, "p50",
                                                  th_json_real(e->p50_px), "p99", th_json_real(e->p99_px), "max",
                                                  th_json_real(e->max_px)));
    }
    return errors;
}

static th_value some(uint32_t number)
{
    return TH_IF_KNOWN(number > 0, TH_DIGITS(number));
}

/* Views of a point: the table, JSON of the test, JSON in the rows of its entry. */
enum { TABLE = 1, TEST = 2, ROW = 4, JSON = TEST | ROW };

static void add_point(th_sheet *sheet, const th_stress *stress, uint32_t index)
{
    const th_row *row = &stress->report.rows[index];
    const th_stress_point *p = &stress->points[index];
    uint32_t low = 0, high = 0;
    const th_capacity *search = &p->search;
    const bool has_interval = th_stress_interval(p, &low, &high);
    const th_capacity_ticks *ticks = &p->ticks;
    json_t *probes = sheet->view == TEST ? probes_json(search) : NULL, *doubts = th_stress_doubts(stress, p);
    json_t *errors = sheet->view == TEST ? errors_json(p) : NULL;
    const unsigned measured = stress->error_every > 0 ? TABLE | JSON : 0;
    const unsigned shared = th_stress_shares(stress) ? TABLE | TEST : 0;
    const double miss_rate_bound = th_capacity_miss_rate_bound(ticks->missed, ticks->scheduled);
    const th_figure figures[] = {
        {"frame", NULL, TH_TEXT(th_stress_frame_name(stress)), ROW},
        {"budget_ms", NULL, TH_NUMBER(stress->budget_ns / 1e6), ROW},
        {"threads", ">threads", TH_COUNT(p->threads), TABLE | TEST},
        {"characters", ">characters", TH_DIGITS(p->characters), TABLE | TEST},
        {"ci_low", ">CI from", TH_IF_KNOWN(has_interval, TH_DIGITS(low)), TABLE | TEST},
        {"ci_high", ">CI to", TH_IF_KNOWN(has_interval, TH_DIGITS(high)), TABLE | TEST},
        {"first_failing", ">+first failing", some(search->first_failing), TABLE | TEST},
        {"evaluated", ">evaluated", TH_DIGITS(p->poses.evaluated), shared},
        {"shared", ">shared", TH_DIGITS(p->poses.shared), shared},
        {"held", ">+held", TH_DIGITS(p->poses.held), shared},
        {"apart", ">+apart", TH_DIGITS(p->poses.apart), shared},
        {"tolerance_px", ">+tolerance px", TH_REAL(p->poses.tolerance_px, "%g"), shared},
        {"share_error", ">+share error", TH_IF_KNOWN(!stress->drawn, TH_REAL(p->share_error, "%.3g")), shared},
        {"error_px_p99", ">px p99", TH_IF_KNOWN(p->error_count > 0, TH_REAL(p->error.p99_px, "%.2g")), measured},
        {"error_px_p50", ">+px p50", TH_IF_KNOWN(p->error_count > 0, TH_REAL(p->error.p50_px, "%.2g")), measured},
        {"error_px_max", ">px max", TH_IF_KNOWN(p->error_count > 0, TH_REAL(p->error.max_px, "%.2g")), measured},
        {"error_frames", NULL, TH_JSON(errors), measured & TEST},
        {"meets_budget", "<meets budget", TH_FLAG(p->meets_budget), TABLE | JSON},
        {"p99_ms", ">p99 ms", TH_REAL(p->times.p99 / 1e6, "%.3f"), TABLE | TEST},
        {NULL, ">+median", TH_REAL(p->times.median / 1e6, "%.3f"), TABLE},
        {"longest_ms", ">longest", TH_REAL(ticks->longest_ns / 1e6, "%.3f"), TABLE | JSON},
        {"ticks", ">+ticks", TH_DIGITS(ticks->scheduled), TABLE | JSON},
        {"deadline_misses", ">missed", TH_COUNT(ticks->missed), TABLE | JSON},
        {"late_frames", NULL, TH_COUNT(ticks->late), JSON},
        {"lost_ms", ">+lost ms", TH_REAL(ticks->missed * stress->budget_ns / 1e6, "%.1f"), TABLE | JSON},
        {"freezes", NULL, TH_COUNT(ticks->freezes), JSON},
        {"frozen_ms", ">frozen ms", TH_REAL(ticks->frozen_ns / 1e6, "%.1f"), TABLE | JSON},
        {"longest_freeze_ms", NULL, TH_NUMBER(ticks->longest_freeze_ns / 1e6), JSON},
        {"deadline_miss_rate_bound", NULL, TH_NUMBER(miss_rate_bound), JSON},
        {"preempted", ">preempted", TH_IF_KNOWN(!p->preempted_unknown, TH_COUNT(p->preempted)), TABLE | JSON},
        {"p99_without_preempted_ms", ">+p99 without preempted", TH_REAL(p->unpreempted.p99 / 1e6, "%.3f"),
         TABLE | JSON},
        {"frames", ">+frames", TH_DIGITS(ticks->frames), TABLE | TEST},
        {"runs", NULL, TH_COUNT(search->runs), TEST},
        {NULL, ">+runs", some(search->runs), TABLE},
        {"worst_run", NULL, some(search->worst_run), TEST},
        {"best_run", NULL, some(search->best_run), TEST},
        {"visible", NULL, some(p->visible), TEST},
        {"out_of_memory", NULL, TH_FLAG(p->out_of_memory), TEST},
        {NULL, "<+palette hash", TH_HASH(row->palette_hash), TABLE},
        {"reproducible", NULL, TH_FLAG(json_array_size(doubts) == 0), TEST},
        {"doubts", NULL, TH_JSON(doubts), TEST},
        {"probes", NULL, TH_JSON(probes), TEST},
    };
    th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
    json_decref(probes);
    json_decref(errors);
    json_decref(doubts);
}

static th_sheet with_points(th_sheet sheet, const th_stress *stress)
{
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (!stress->report.rows[i].failure[0])
            add_point(&sheet, stress, i);
    return sheet;
}

/* ---- JSON ---- */

static json_t *count_or_null(uint32_t count)
{
    return count > 0 ? th_json_count(count) : json_null();
}

static json_t *interrupted_json(const th_stress_point *p)
{
    return json_pack("{s:i, s:o, s:o, s:o}", "threads", (int)p->threads, "passed", count_or_null(p->search.passed),
                     "failed", count_or_null(p->search.failed), "probes", probes_json(&p->search));
}

json_t *th_stress_own_json(const th_stress *stress, uint32_t point)
{
    th_sheet sheet = th_sheet_json(ROW);
    add_point(&sheet, stress, point);
    return th_sheet_object(&sheet);
}

json_t *th_stress_json(const th_stress *stress)
{
    assert(stress);
    if (stress->report.is_dry_run)
        return th_report_json(&stress->report);
    const th_stress_point *interrupted = th_stress_interrupted(stress);
    json_t *json = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:i, s:o, s:b, s:o, s:o, s:o}", "headline", th_json_text(stress->headline), "frame",
        th_stress_frame_name(stress), "budget_ms", th_json_real(stress->budget_ns / 1e6), "deadline_miss_rate_allowed",
        th_json_real(TH_CAPACITY_MISS_RATE), "confidence", th_json_real(TH_CONFIDENCE), "frames", (int)stress->frames,
        "preemption_threshold_ms", th_json_real(stress->preemption_threshold_ns / 1e6), "searched", stress->searched,
        "memory_bytes", th_json_count(stress->memory), "bytes_per_character", th_json_real(stress->bytes_per_character),
        "points", with_points(th_sheet_json(TEST), stress).objects);
    if (stress->error_every > 0)
        json = th_json_set(json, "error_every", th_json_count(stress->error_every));
    if (interrupted)
        json = th_json_set(json, "interrupted", interrupted_json(interrupted));
    return th_json_set(th_report_json(&stress->report), "stress", json);
}

/* ---- text ---- */

static void print_rule(const th_stress *stress, th_format format, FILE *file)
{
    th_write_line(
        file, format,
        "Meets budget: with %.0f %% confidence at most %.0f %% of ticks, %.4g ms apart, are missed, because a "
        "frame still runs or the process does not (%u of %s allowed). CI: interval of the number at which "
        "%.0f %% are, at the same confidence. %sFrozen: the process did not run for "
        "a budget or longer. Preempted: one of our threads waited for a CPU for %.2g ms or more. All of these "
        "count.",
        100 * TH_CONFIDENCE, 100 * TH_CAPACITY_MISS_RATE, stress->budget_ns / 1e6,
        th_capacity_allowed_misses(stress->frames), th_digits_from(stress->frames).text, 100 * TH_CAPACITY_MISS_RATE,
        format == TH_FORMAT_TEXT ? "" : "Lost: missed ticks x budget. ", stress->preemption_threshold_ns / 1e6);
}

static void print_sharing(const th_stress *stress, th_format format, FILE *file)
{
    if (th_stress_shares(stress))
        th_write_line(
            file, format,
            "Evaluated: poses. Shared: characters beyond that, who show the pose of another; held: one of a frame "
            "before. Tolerance: pixels that a budget lets them be off. Share error: the farthest that sharing moves a "
            "bone, in scene "
            "units.");
}

static void print_errors(const th_stress *stress, th_format format, FILE *file)
{
    if (stress->error_every > 0)
        th_write_line(file, format,
                      "Px: error on screen, in pixels between the skin of a visible character and its full evaluation: "
                      "p50, p99 and maximum over the characters of a frame, the largest of all measured frames. One "
                      "frame in %s is measured, afterwards, in frames that are not timed.",
                      th_digits_from(stress->error_every).text);
}

static void print_memory(const th_stress *stress, th_format format, FILE *file)
{
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (stress->points[i].out_of_memory) {
            th_write_line(
                file, format,
                "More characters on %u thread%s may meet the budget, but a character takes %.1f KB, and %.3g GB of "
                "memory are available.",
                stress->points[i].threads, th_plural(stress->points[i].threads), stress->bytes_per_character / 1e3,
                (double)stress->memory / 1e9);
        }
}

/* Warnings about reproducibility and visibility. */
static void print_warnings(const th_stress *stress, th_format format, FILE *file)
{
    for (uint32_t i = 0; i < stress->point_count; i++) {
        const th_stress_point *p = &stress->points[i];
        char doubts[1024] = "";
        if (!stress->report.rows[i].failure[0])
            th_stress_add_doubts(stress, p, doubts, sizeof doubts);
        if (doubts[0])
            th_write_line(file, format, "warning: the result on %u thread%s is %s", p->threads, th_plural(p->threads),
                          doubts);
        if (p->poses.apart > 0)
            th_write_line(file, format,
                          "warning: %s of the characters on %u thread%s do not share poses: they have a behaviour",
                          th_digits_from(p->poses.apart).text, p->threads, th_plural(p->threads));
        if (stress->drawn && p->visible < p->characters)
            th_write_line(file, format, "warning: only %s of the %s character%s on %u thread%s %s visible",
                          th_digits_from(p->visible).text, th_digits_from(p->characters).text, th_plural(p->characters),
                          p->threads, th_plural(p->threads), p->visible == 1 ? "was" : "were");
    }
}

static bool print_figures(const void *result, th_format format, FILE *file)
{
    const th_stress *stress = result;
    th_sheet points = with_points(th_sheet_table(TABLE), stress);
    th_print_gap(format, file);
    bool printed = th_sheet_write(&points, format, file);
    printed = th_counter_table_print(&stress->report, format, file) && printed;
    fputc('\n', file);
    print_rule(stress, format, file);
    print_sharing(stress, format, file);
    print_errors(stress, format, file);
    print_memory(stress, format, file);
    th_print_gap(format, file);
    th_write_line(file, format, "%s", stress->headline);
    th_print_gap(format, file);
    print_warnings(stress, format, file);
    return printed;
}

static void print_how(const void *result, th_format format, FILE *file)
{
    const th_stress *stress = result;
    th_write_line(file, format, "%s kernel, %s palettes, %s scheduler, placement %s, frames %s on ticks of %.4g ms",
                  th_isa_name(stress->isa), th_palette_name(stress->palette),
                  th_scheduler_name(TH_SCHEDULER_WORK_STEALING), th_placement_name(stress->placement),
                  th_stress_frame_name(stress), stress->budget_ns / 1e6);
    th_report_print_picture(stress->report.picture, format, file);
}

const th_tables th_stress_tables = {print_how, print_figures};

bool th_stress_print(const th_stress *stress, th_format format, FILE *file)
{
    assert(stress && file);
    return th_tables_print(&th_stress_tables, &stress->report, stress, format, file);
}
