/* A stress test as JSON and text, and its result in one sentence. */
#include "figures.h"

#include <assert.h>
#include <math.h>

/* What was timed. */
static const char *frame_name(const th_stress *stress)
{
    return stress->drawn ? "drawn" : "posed";
}

/* Whether poses were to be shared, or were, or were held. */
static bool shares_poses(const th_stress *stress)
{
    bool shares = stress->share_hz > 0;
    for (uint32_t i = 0; i < stress->point_count; i++)
        shares |= stress->points[i].poses.shared > 0 || stress->points[i].poses.held > 0;
    return shares;
}

/* Rounds to the digits shown; outwards, so that the interval never becomes narrower. */
static uint32_t round_to_digits(double value, bool up)
{
    const double unit = value >= 1000 ? pow(10, floor(log10(value)) - 2) : 1;
    return (uint32_t)(unit * (up ? ceil(value / unit) : floor(value / unit)));
}

/* The confidence interval of a point's capacity (th_capacity.interval). False where it is unknown: not even one
 * character meets the budget, or memory is the limit. */
static bool interval_of(const th_stress_point *point, uint32_t *low, uint32_t *high)
{
    const th_interval *interval = &point->search.interval;
    if (!(interval->low >= 0 && interval->high < 1e9) || point->out_of_memory)
        return false;
    *low = round_to_digits(interval->low, false);
    *high = round_to_digits(interval->high, true);
    return true;
}

/* ---- doubts ---- */

/* Why another run may give another result at this point, as texts: the process froze, other programs had the CPUs, or
 * the runs of the search differ. Empty: nothing was seen. NULL when memory is out. */
static json_t *doubts_of(const th_stress *stress, const th_stress_point *point)
{
    json_t *doubts = json_array();
    const th_capacity *search = &point->search;
    const th_capacity_ticks *all = &search->ticks;
    const th_interference *outside = &stress->report.interference;
    const uint32_t cpus = stress->report.context.cpus.usable;
    const double preempted = 100.0 * point->preempted / point->ticks.frames;
    if (all->freezes > 0)
        th_json_append_format(&doubts, "the process did not run for %.3g s in all, %.3g s at once",
                              all->frozen_ns / 1e9, all->longest_freeze_ns / 1e9);
    if (preempted > 100 * TH_CAPACITY_MISS_RATE)
        th_json_append_format(&doubts, "in %.*f %% of the frames a thread waited for a CPU", preempted < 10, preempted);
    if (outside->external_cpu_load > TH_REPORT_EXTERNAL_CPU_LOAD)
        th_json_append_format(&doubts, "other programs used %.2f CPUs", outside->external_cpu_load);
    if (outside->steal_cpu_load > 0.01)
        th_json_append_format(&doubts, "the hypervisor withheld %.2f CPUs", outside->steal_cpu_load);
    if (outside->throttled_s > 0)
        th_json_append_format(&doubts, "the cgroup's quota throttled threads for %.2f s", outside->throttled_s);
    if (cpus > 0 && point->threads > cpus)
        th_json_append_format(&doubts, "%u threads share %u CPU%s", point->threads, cpus, th_plural(cpus));
    if (search->runs > 0 && !search->is_stable)
        th_json_append_format(&doubts, "the worst of %u runs suggests %s, the best %s", search->runs,
                              th_digits_from(search->worst_run).text, th_digits_from(search->best_run).text);
    return doubts;
}

/* Appends "not reproducible (...)" with these reasons, or nothing. */
static void add_doubts(const th_stress *stress, const th_stress_point *point, char *line, size_t size)
{
    json_t *doubts = doubts_of(stress, point);
    for (size_t i = 0; i < json_array_size(doubts); i++)
        th_append(line, size, "%s%s", i == 0 ? "not reproducible (" : "; ",
                  json_string_value(json_array_get(doubts, i)));
    if (json_array_size(doubts) > 0)
        th_append(line, size, ")");
    json_decref(doubts);
}

/* ---- the headline ---- */

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

static void add_sentence(char *line, size_t size, const th_stress *stress, const th_stress_point *point)
{
    enum { MOST_NAMES = 3 };
    const double budget_ms = stress->budget_ns / 1e6;
    const th_context *context = &stress->report.context;
    const th_capacity_ticks *ticks = &point->ticks;
    uint32_t low, high;
    add_doubts(stress, point, line, size);
    if (line[0]) {
        line[0] = 'N';
        th_append(line, size, ": ");
    }
    add_result(line, size, frame_name(stress), point);
    th_append(line, size, " %.4g ms (%.4g Hz)", budget_ms, 1000 / budget_ms);
    if (shares_poses(stress))
        th_append(line, size,
                  point->poses.held > 0 ? ", of which %s are posed in a frame" : ", showing %s poses that they share",
                  th_digits_from(point->poses.evaluated).text);
    if (stress->share_hz > 0)
        th_append(line, size, point->poses.held > 0 ? ", sharing at %g Hz" : " at %g Hz", stress->share_hz);
    if (point->poses.tolerance_px > 0)
        th_append(line, size, " within %g pixels", point->poses.tolerance_px);
    if (point->error_count > 0)
        th_append(line, size, ", with an error on screen of %.2g pixels (p99)", point->error.p99_px);
    if (interval_of(point, &low, &high))
        th_append(line, size, ", 95 %% CI %s to %s", th_digits_from(low).text, th_digits_from(high).text);

    /* The allowed misses are fewer than one percent, because so few ticks leave uncertainty. So p99 may be within a
     * budget that is not met; the headline then gives the misses. */
    if (ticks->frames > 0 && point->characters > 0 && !point->meets_budget)
        th_append(line, size, ", with %s of %s ticks missed where %u are allowed", th_digits_from(ticks->missed).text,
                  th_digits_from(ticks->scheduled).text, th_capacity_allowed_misses(ticks->scheduled));
    if (ticks->frames > 0)
        th_append(line, size, ": p99 of %.4g ms", point->times.p99 / 1e6);
    if (ticks->frames > 0 && ticks->missed > 0) /* of the picture, whatever the cause */
        th_append(line, size, ", longest freeze %.4g ms,", ticks->longest_ns / 1e6);

    th_append(line, size, " on %u thread%s (", point->threads, th_plural(point->threads));
    const json_t *models = json_object_get(stress->report.scene, "models");
    const size_t count = json_array_size(models);
    for (size_t i = 0; i < count && i < MOST_NAMES; i++) {
        const json_t *model = json_array_get(models, i);
        const int bones = (int)json_integer_value(json_object_get(model, "bones"));
        th_append(line, size, "%s%s, %d %s", i == 0 ? "" : "; ", json_string_value(json_object_get(model, "name")),
                  bones, bones == 1 ? "bone" : "bones");
    }
    if (count > MOST_NAMES)
        th_append(line, size, " and %zu more", count - MOST_NAMES);
    if (stress->report.picture) {
        th_append(line, size, "; ");
        th_report_add_picture(stress->report.picture, line, size);
    }
    th_append(line, size, "; %s, %s, %s; throng %s)", context->cpu[0] ? context->cpu : "unknown CPU",
              th_isa_name(stress->isa), th_format_name(stress->palette), th_context_version());
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
        add_sentence(stress->headline, sizeof stress->headline, stress, point);
    else if (th_report_failure(&stress->report))
        th_append(stress->headline, sizeof stress->headline, "The palettes are wrong, so the times mean nothing.");
    if (th_stress_interrupted(stress))
        add_interrupted(stress->headline, sizeof stress->headline, stress);
}

/* ---- figures ---- */

static json_t *probes_json(const th_capacity *search)
{
    th_sheet sheet = th_sheet_json(0);
    for (uint32_t i = 0; i < search->probe_count; i++) {
        const th_capacity_probe *p = &search->probes[i];
        const th_figure figures[] = {
            TH_FIELD("stage", TH_TEXT(th_capacity_stage_name(p->stage))),
            TH_FIELD("characters", TH_COUNT(p->items)),
            TH_FIELD("ticks", TH_COUNT(p->ticks.scheduled)),
            TH_FIELD("frames", TH_COUNT(p->ticks.frames)),
            TH_FIELD("deadline_misses", TH_COUNT(p->ticks.missed)),
            TH_FIELD("meets_budget", TH_FLAG(p->meets_budget)),
            TH_FIELD("median_ms", TH_NUMBER_PER(p->median_ns, 1e6)),
            TH_FIELD("p99_ms", TH_NUMBER_PER(p->p99_ns, 1e6)),
            TH_FIELD("frozen_ms", TH_NUMBER_PER(p->ticks.frozen_ns, 1e6)),
        };
        TH_SHEET_ADD(&sheet, figures);
    }
    return sheet.objects;
}

static json_t *errors_json(const th_stress_point *p)
{
    th_sheet sheet = th_sheet_json(0);
    for (uint32_t i = 0; i < p->error_count; i++) {
        const th_stress_error *e = &p->errors[i];
        const th_figure figures[] = {
            TH_FIELD("frame", TH_COUNT(e->frame)),
            TH_FIELD("p50", TH_NUMBER(e->p50_px)),
            TH_FIELD("p99", TH_NUMBER(e->p99_px)),
            TH_FIELD("max", TH_NUMBER(e->max_px)),
        };
        TH_SHEET_ADD(&sheet, figures);
    }
    return sheet.objects;
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
    const bool has_interval = interval_of(p, &low, &high);
    const th_capacity_ticks *ticks = &p->ticks;
    json_t *probes = sheet->view == TEST ? probes_json(search) : NULL, *doubts = doubts_of(stress, p);
    json_t *errors = sheet->view == TEST ? errors_json(p) : NULL;
    const unsigned measured = stress->error_every > 0 ? TABLE | JSON : 0;
    const unsigned shared = shares_poses(stress) ? TABLE | TEST : 0;
    const double miss_rate_bound = th_capacity_miss_rate_bound(ticks->missed, ticks->scheduled);
    const th_figure figures[] = {
        {"frame", NULL, TH_TEXT(frame_name(stress)), ROW},
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
    TH_SHEET_ADD(sheet, figures);
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
        frame_name(stress), "budget_ms", th_json_real(stress->budget_ns / 1e6), "deadline_miss_rate_allowed",
        th_json_real(TH_CAPACITY_MISS_RATE), "confidence", th_json_real(TH_CONFIDENCE), "frames", (int)stress->frames,
        "preemption_threshold_ms", th_json_real(stress->preemption_threshold_ns / 1e6), "searched", stress->searched,
        "memory_bytes", th_json_count(stress->memory), "bytes_per_character", th_json_real(stress->bytes_per_character),
        "points", with_points(th_sheet_json(TEST), stress).objects);
    if (stress->error_every > 0)
        json = th_json_set(json, "error_every", th_json_count(stress->error_every));
    if (interrupted) {
        const th_capacity *search = &interrupted->search;
        json_t *probes = probes_json(search);
        const th_figure figures[] = {
            TH_FIELD("threads", TH_COUNT(interrupted->threads)),
            TH_FIELD("passed", some(search->passed)),
            TH_FIELD("failed", some(search->failed)),
            TH_FIELD("probes", TH_JSON(probes)),
        };
        json = th_json_set(json, "interrupted", th_figures_json(figures, sizeof figures / sizeof *figures));
        json_decref(probes);
    }
    return th_json_set(th_report_json(&stress->report), "stress", json);
}

/* ---- text ---- */

/* What the figures mean. */
static void print_notes(const th_stress *stress, th_output_format format, FILE *file)
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
        format == TH_OUTPUT_TEXT ? "" : "Lost: missed ticks x budget. ", stress->preemption_threshold_ns / 1e6);
    if (shares_poses(stress))
        th_write_line(
            file, format,
            "Evaluated: poses. Shared: characters beyond that, who show the pose of another; held: one of a frame "
            "before. Tolerance: pixels that a budget lets them be off. Share error: the farthest that sharing moves a "
            "bone, in scene "
            "units.");
    if (stress->error_every > 0)
        th_write_line(file, format,
                      "Px: error on screen, in pixels between the skin of a visible character and its full evaluation: "
                      "p50, p99 and maximum over the characters of a frame, the largest of all measured frames. One "
                      "frame in %s is measured, afterwards, in frames that are not timed.",
                      th_digits_from(stress->error_every).text);
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
static void print_warnings(const th_stress *stress, th_output_format format, FILE *file)
{
    for (uint32_t i = 0; i < stress->point_count; i++) {
        const th_stress_point *p = &stress->points[i];
        char doubts[1024] = "";
        if (!stress->report.rows[i].failure[0])
            add_doubts(stress, p, doubts, sizeof doubts);
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

bool th_stress_print(const th_stress *stress, th_output_format format, FILE *file)
{
    assert(stress && file);
    bool printed;
    th_report_print_conditions(&stress->report, format, file);
    th_write_line(file, format, "%s kernel, %s palettes, %s scheduler, placement %s, frames %s on ticks of %.4g ms",
                  th_isa_name(stress->isa), th_format_name(stress->palette),
                  th_scheduler_name(TH_SCHEDULER_WORK_STEALING), th_placement_name(stress->placement),
                  frame_name(stress), stress->budget_ns / 1e6);
    th_report_print_picture(stress->report.picture, format, file);
    if (stress->report.is_dry_run)
        printed = th_report_print_dry_run(&stress->report, format, file);
    else {
        th_sheet points = with_points(th_sheet_table(TABLE), stress);
        th_print_gap(format, file);
        printed = th_sheet_write(&points, format, file);
        printed = th_report_print_counters(&stress->report, format, file) && printed;
        fputc('\n', file);
        print_notes(stress, format, file);
        th_print_gap(format, file);
        th_write_line(file, format, "%s", stress->headline);
        th_print_gap(format, file);
        print_warnings(stress, format, file);
    }
    th_report_print_warnings(&stress->report, format, file);
    return printed;
}
