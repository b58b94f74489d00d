/* The page of a bench run. */
#include "html.h"
#include "pareto.h"
#include "plot.h"
#include "roofline.h"
#include "row_interval.h"

#include <throng/bench/bench.h>
#include <throng/bench/page.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_prefix(const th_row *row, const char *prefix)
{
    return strncmp(row->name, prefix, strlen(prefix)) == 0;
}

static bool has_figures(const th_row *row)
{
    return !row->failure[0] && row->real_ns.count > 0 && strncmp(row->name, "ceiling/", 8) != 0;
}

/* ---- cost ---- */

typedef struct unit {
    const char *name;
    double ns; /* nanoseconds of an iteration that make 1 of this unit */
} unit;

static unit unit_of(const th_row *row)
{
    if (has_prefix(row, "frame/") || has_prefix(row, "error/"))
        return (unit){"ms per frame", 1e6};
    if (row->bones > 0)
        return (unit){"ns per bone", (double)row->bones};
    return (unit){"us per call", 1e3};
}

static double cost_of(const th_row *row)
{
    return th_samples_stats(&row->real_ns).median / unit_of(row).ns;
}

static th_interval cost_interval(const th_row *row)
{
    const double ns = unit_of(row).ns;
    const th_interval i = th_row_interval(row);
    return (th_interval){i.low / ns, i.high / ns};
}

static const th_row *row_named(const th_report *report, const char *name)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (strcmp(report->rows[r].name, name) == 0 && has_figures(&report->rows[r]))
            return &report->rows[r];
    return NULL;
}

/* ---- the headline ---- */

/* The faster of the two; NULL without them. */
static const th_row *memory_floor(const th_report *report)
{
    const th_row *cached = row_named(report, "limit/write_cached"),
                 *streamed = row_named(report, "limit/write_streamed");
    if (!cached || !streamed)
        return cached ? cached : streamed;
    return cost_of(cached) < cost_of(streamed) ? cached : streamed;
}

/* Among kernels that write f32 palettes, the default. */
static const th_row *fastest_pose(const th_report *report)
{
    const th_row *best = NULL;
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (has_figures(row) && has_prefix(row, "pose/") && strstr(row->name, "/f32") &&
            (!best || cost_of(row) < cost_of(best)))
            best = row;
    }
    return best;
}

static void write_headline(const th_report *report, char *out, size_t size)
{
    const th_row *best = fastest_pose(report), *tutorial = row_named(report, "pose/tutorial");
    const th_row *limit = memory_floor(report);
    if (th_html_trouble(report, out, size))
        return;
    th_append(out, size, "%s", report->is_partial ? "Partial, interrupted: " : "");
    if (!best) {
        th_append(out, size, "%u entr%s measured", report->row_count, report->row_count == 1 ? "y" : "ies");
        return;
    }
    th_append(out, size, "%s: %.2f ns per bone", best->name, cost_of(best));
    if (tutorial && tutorial != best)
        th_append(out, size, ", %.3g times as fast as the tutorials", cost_of(tutorial) / cost_of(best));
    if (limit)
        th_append(out, size, ", %.3g x the memory floor", cost_of(best) / cost_of(limit));
}

/* ---- groups of compared entries ---- */

/* Length of the common prefix of a group: "interp/", "jobs/wake:cold/"; 0 for poses and their floor. */
static size_t prefix_of(const th_row *row)
{
    const char *first = strchr(row->name, '/'), *last = strrchr(row->name, '/');
    if (!first || has_prefix(row, "pose/") || has_prefix(row, "limit/") || has_prefix(row, "external/"))
        return 0;
    return (size_t)((row->characters == 0 || has_prefix(row, "frame/") ? last : first) - row->name) + 1;
}

static bool is_together(const th_row *a, const th_row *b)
{
    const size_t prefix = prefix_of(a);
    return prefix == prefix_of(b) && strncmp(a->name, b->name, prefix) == 0;
}

static void write_title(const th_row *row, char *out, size_t size)
{
    static const struct {
        const char *prefix, *title;
    } titles[] = {
        {"pose/", "Poses: from keys to palettes"}, {"limit/", "Poses: from keys to palettes"},
        {"external/", "Poses of other programs"},  {"interp/", "Interpolations"},
        {"crowd/", "Sizes of the crowd"},          {"play/", "Time in order, random times"},
        {"clips/", "One clip, all clips"},         {"error/", "Settings, whole frames without drawing"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (has_prefix(row, titles[i].prefix)) {
            snprintf(out, size, "%s", titles[i].title);
            return;
        }
    snprintf(out, size, "%.*s", (int)(prefix_of(row) > 1 ? prefix_of(row) - 1 : strlen(row->name)), row->name);
}

/* Baselines have an ink of their own. */
static th_ink ink_of(const th_row *row)
{
    const char *last = strrchr(row->name, '/');
    const bool is_baseline =
        has_prefix(row, "limit/") || has_prefix(row, "external/") || (last && strcmp(last, "/serial") == 0);
    return is_baseline ? TH_INK_GREY : TH_INK_BLUE;
}

static void draw_cost(th_plot *plot, const th_row *row, uint32_t place)
{
    const double cost = cost_of(row);
    const th_interval interval = cost_interval(row);
    th_plot_interval_x(plot, ink_of(row), interval, place + 0.5);
    th_plot_point(plot, ink_of(row), false, cost, place + 0.5, "%s: %.4g %s (%.4g to %.4g), %u repetition%s", row->name,
                  cost, unit_of(row).name, interval.low, interval.high, row->real_ns.count,
                  th_plural(row->real_ns.count));
}

/* Draws adjacent rows. False when memory is out. */
static bool draw_group(const th_row *rows, uint32_t count, FILE *file)
{
    char title[64];
    const char **names = calloc(count, sizeof *names);
    if (!names)
        return false;
    write_title(rows, title, sizeof title);
    const th_plot_desc desc = {
        .title = title,
        .x_title = unit_of(rows).name,
        .x = th_axis_log(),
        .rows = names,
        .row_count = count,
    };
    for (uint32_t i = 0; i < count; i++)
        names[i] = rows[i].name + prefix_of(&rows[i]);
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        for (uint32_t i = 0; i < count; i++)
            if (has_figures(&rows[i]))
                draw_cost(&plot, &rows[i], i);
    free(names);
    return true;
}

/* The number of rows in the group; 0 if none of them was timed. */
static uint32_t group_size(const th_report *report, uint32_t first, bool *has_any)
{
    uint32_t end = first;
    *has_any = false;
    for (; end < report->row_count && is_together(&report->rows[first], &report->rows[end]); end++)
        *has_any = *has_any || has_figures(&report->rows[end]);
    return end - first;
}

/* of_jobs: those of the job system, or all others. */
static bool draw_groups(const th_report *report, bool of_jobs, FILE *file)
{
    bool drawn = true, has_any;
    for (uint32_t r = 0, count; r < report->row_count && drawn; r += count) {
        count = group_size(report, r, &has_any);
        if (has_any && (report->rows[r].characters == 0) == of_jobs)
            drawn = draw_group(&report->rows[r], count, file);
    }
    return drawn;
}

/* ---- error against cost ---- */

/* Error of the palettes against the file. */
static double error_of(const th_row *row)
{
    return row->overrides ? row->error_vs_source : row->max_error;
}

/* A mode for each ink; pose/ entries play what the file says. */
static const th_key mode_keys[] = {{"as authored", TH_INK_BLUE, false},
                                   {"step", TH_INK_VERMILION, false},
                                   {"nlerp", TH_INK_GREEN, false},
                                   {"slerp", TH_INK_PURPLE, false},
                                   {"cubic", TH_INK_SKY, false}};
enum { MODE_COUNT = sizeof mode_keys / sizeof *mode_keys };
_Static_assert(MODE_COUNT == (int)TH_INTERPOLATION_COUNT, "a key for each interpolation mode");

/* The mode of an entry; NULL if it does not pose the crowd. *what: the rest of its name. */
static const th_key *mode_of(const th_row *row, const char **what)
{
    *what = strchr(row->name, '/');
    if (!has_figures(row) || !row->checked || !*what)
        return NULL;
    *what += 1;
    if (has_prefix(row, "pose/"))
        return &mode_keys[0];
    for (int m = 1; m < MODE_COUNT && has_prefix(row, "interp/"); m++) {
        const size_t length = strlen(mode_keys[m].text);
        if (strncmp(*what, mode_keys[m].text, length) == 0 && (*what)[length] == '/') {
            *what += length + 1;
            return &mode_keys[m];
        }
    }
    return NULL;
}

static void label_errors(th_plot *plot, const th_report *report)
{
    const char *what;
    for (uint32_t r = 0; r < report->row_count; r++)
        if (mode_of(&report->rows[r], &what))
            th_plot_label(plot, cost_of(&report->rows[r]), error_of(&report->rows[r]), what);
}

/* The modes that were measured and have an error. */
static uint32_t find_modes(const th_report *report, th_key out[MODE_COUNT])
{
    const char *what;
    uint32_t count = 0;
    for (int m = 0; m < MODE_COUNT; m++) {
        bool is_there = false;
        for (uint32_t r = 0; r < report->row_count && !is_there; r++)
            is_there = mode_of(&report->rows[r], &what) == &mode_keys[m] && error_of(&report->rows[r]) > 0;
        if (is_there)
            out[count++] = mode_keys[m];
    }
    return count;
}

static void draw_errors(const th_report *report, FILE *file)
{
    const char *what;
    th_key keys[MODE_COUNT];
    th_plot_desc desc = {
        .title = "Error against cost",
        .note = "Error of the palettes against the source file, and their cost: lower left is better.",
        .x_title = "ns per bone",
        .y_title = "largest error, scene units",
        .x = th_axis_log(),
        .y = th_axis_log(),
        .is_tall = true,
        .keys = keys,
    };
    const th_row *limit = memory_floor(report);
    desc.key_count = find_modes(report, keys);
    if (desc.key_count == 0)
        return;
    if (limit)
        th_axis_include(&desc.x, cost_of(limit));
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        if (limit)
            th_plot_rule_x(&plot, cost_of(limit), "memory floor");
        for (uint32_t r = 0; r < report->row_count; r++) {
            const th_row *row = &report->rows[r];
            const th_key *mode = mode_of(row, &what);
            if (mode)
                th_plot_point(&plot, mode->ink, false, cost_of(row), error_of(row), "%s: %.3g ns per bone, error %.2g",
                              row->name, cost_of(row), error_of(row));
        }
        label_errors(&plot, report);
    }
}

/* ---- the page ---- */

static bool has_rows(const th_report *report, bool of_jobs)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (has_figures(&report->rows[r]) && (report->rows[r].characters == 0) == of_jobs)
            return true;
    return false;
}

static bool draw_section(const th_report *report, bool of_jobs, FILE *file)
{
    if (!has_rows(report, of_jobs))
        return true;
    th_html_plots(of_jobs ? "The job system" : "Posing and drawing", NULL, file);
    if (!of_jobs)
        th_roofline_draw(report, file);
    if (!of_jobs)
        draw_errors(report, file);
    if (!of_jobs)
        th_pareto_draw(report, file);
    const bool drawn = draw_groups(report, of_jobs, file);
    th_html_plots_end(file);
    return drawn;
}

static bool draw_all(const void *result, FILE *file)
{
    const bool drawn = draw_section(result, false, file);
    return draw_section(result, true, file) && drawn;
}

bool th_bench_page(const th_report *report, const char *command, FILE *file)
{
    assert(report && command && file);
    char headline[256] = "";
    write_headline(report, headline, sizeof headline);
    const th_html_head head = {"throng bench", headline, NULL, command};
    return th_html_report(&head, &th_bench_tables, report, report, draw_all, file);
}
