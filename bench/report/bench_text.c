/* The tables of a bench run. */
#include "tables.h"

#include <throng/bench/bench.h>
#include <throng/bench/rank_test.h>
#include <throng/core/json.h>
#include <throng/core/table.h>

#include <math.h>
#include <string.h>

/* ---- rows ---- */

static double figure_of(const th_row *row, const char *name)
{
    const json_t *value = json_object_get(row->own, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Length of "jobs/fork_join:2/" in "jobs/fork_join:2/work-stealing". */
static int what_length(const th_row *row)
{
    const char *slash = strrchr(row->name, '/');
    return slash ? (int)(slash - row->name) + 1 : 0;
}

static bool is_same_what(const th_row *a, const th_row *b)
{
    const int length = what_length(a);
    return length == what_length(b) && strncmp(a->name, b->name, (size_t)length) == 0;
}

/* Separates groups of compared entries by a blank line. last: the row above; NULL: none. */
static void part_rows(th_table *table, const th_row *last, const th_row *row, int columns)
{
    for (int i = 0; last && !is_same_what(last, row) && i < columns; i++)
        th_table_cell(table, "%s", "");
}

/* ---- poses ---- */

static double median_of(const th_report *report, const char *name)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (strcmp(report->rows[r].name, name) == 0)
            return th_samples_stats(&report->rows[r].real_ns).median;
    return (double)NAN;
}

static void add_ratio(th_table *table, double ratio, const char *suffix)
{
    if (isfinite(ratio))
        th_table_cell(table, ratio < 10 ? "%.2f%s" : "%.0f%s", ratio, suffix);
    else
        th_table_cell(table, "-");
}

/* MAD of the samples, and CI half-width of the median. */
static void add_mad_and_ci(th_table *table, const th_row *row, const th_stats *stats)
{
    add_ratio(table, 100 * th_stats_relative_mad(stats), " %");
    const double half_width = 100 * th_median_ci_half_width(&row->real_ns);
    th_table_cell(table, isnan(half_width) ? "-" : half_width < 10 ? "+-%.2f %%" : "+-%.0f %%", half_width);
}

static void add_cost(th_table *table, const th_row *row, const th_stats *stats)
{
    th_table_cell(table, "%s", row->name);
    th_table_cell(table, "%.2f", stats->median / (double)row->bones);
    th_table_cell(table, "%.3f", stats->median / 1000 / (double)row->characters);
}

/* The floor writes f32 palettes, twice as large as f16 ones. */
static double memory_floor_for(const th_report *report, const th_row *row)
{
    const char *format = strrchr(row->name, '/');
    const bool is_half = format && strcmp(format + 1, th_palette_name(TH_PALETTE_F16)) == 0;
    return is_half ? (double)NAN : median_of(report, "limit/palette_write");
}

static void add_pose(th_table *table, const th_report *report, const th_row *row)
{
    th_stats stats = th_samples_stats(&row->real_ns);
    add_cost(table, row, &stats);
    add_ratio(table, median_of(report, "pose/tutorial") / stats.median, "x");
    add_ratio(table, stats.median / memory_floor_for(report, row), "x");
    if (row->checked) {
        th_table_cell(table, "%.2g", row->max_error);
        th_table_cell(table, "%016llx", (unsigned long long)row->palette_hash);
    } else {
        th_table_cell(table, "-");
        th_table_cell(table, "-");
    }
    th_table_cell(table, "%u x %u", stats.count, row->iterations);
    add_mad_and_ci(table, row, &stats);
}

/* ---- other ways to play the crowd ---- */

/* "271,360", "203,112 (14 % exact)", "exact". */
static void add_keys(th_table *table, const th_row *row)
{
    const double bytes = figure_of(row, "key_bytes");
    const double exact = figure_of(row, "exact_characters") / (double)row->characters;
    if (exact <= 0)
        th_table_cell(table, "%s", th_digits_from((uint64_t)bytes).text);
    else if (exact < 1)
        th_table_cell(table, "%s (%.3g %% exact)", th_digits_from((uint64_t)bytes).text, 100 * exact);
    else
        th_table_cell(table, "exact");
}

static void add_variation(th_table *table, const th_row *last, const th_row *row)
{
    th_stats stats = th_samples_stats(&row->real_ns);
    part_rows(table, last, row, 10);
    add_cost(table, row, &stats);
    th_table_cell(table, "%.2g", row->max_error);
    if (row->overrides)
        th_table_cell(table, "%.2g", row->error_vs_source);
    else
        th_table_cell(table, "-");
    add_keys(table, row);
    th_table_cell(table, "%016llx", (unsigned long long)row->palette_hash);
    th_table_cell(table, "%u x %u", stats.count, row->iterations);
    add_mad_and_ci(table, row, &stats);
}

/* ---- jobs ---- */

/* Overhead beyond a fair share of the serial time, in microseconds a call; or beyond the plain loop, in nanoseconds a
 * chunk. */
static void add_overhead(th_table *table, const th_row *row)
{
    const double call_ns = figure_of(row, "overhead_ns"), chunk_ns = figure_of(row, "chunk_ns");
    if (isfinite(chunk_ns))
        th_table_cell(table, "%.2f ns/chunk", chunk_ns);
    else if (isfinite(call_ns))
        th_table_cell(table, "%.2f us", call_ns / 1000);
    else
        th_table_cell(table, "-");
}

static void add_job(th_table *table, const th_row *last, const th_row *row)
{
    th_stats stats = th_samples_stats(&row->real_ns);
    part_rows(table, last, row, 12);
    th_table_cell(table, "%s", row->name);
    th_table_cell(table, "%u", row->threads);
    th_table_cell(table, "%.2f", stats.median / 1000);
    th_table_cell(table, "%.2f", stats.min / 1000);
    add_ratio(table, figure_of(row, "speed_up"), "x");
    add_ratio(table, 100 * figure_of(row, "efficiency"), " %");
    add_ratio(table, 100 * figure_of(row, "efficiency_at_p90"), " %");
    add_overhead(table, row);
    add_ratio(table, figure_of(row, "idle_cores"), "");
    th_table_cell(table, "%u x %u", stats.count, row->iterations);
    add_mad_and_ci(table, row, &stats);
}

/* ---- frames ---- */

static void add_frame(th_table *table, const th_row *last, const th_row *row)
{
    static const char *const stages[] = {"cull_ms", "wait_ms", "pose_ms", "draw_ms"};
    th_stats stats = th_samples_stats(&row->real_ns);
    part_rows(table, last, row, 13);
    th_table_cell(table, "%s", row->name);
    th_table_cell(table, "%s", th_digits_from(row->characters).text);
    th_table_cell(table, "%s", th_digits_from((uint64_t)figure_of(row, "visible")).text);
    th_table_cell(table, "%.3f", stats.median / 1e6);
    th_table_cell(table, "%.3f", stats.min / 1e6);
    add_ratio(table, figure_of(row, "vs_redraw"), "x");
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
        th_table_cell(table, "%.3f", figure_of(row, stages[s]));
    th_table_cell(table, "%u x %u", stats.count, row->iterations);
    add_mad_and_ci(table, row, &stats);
}

static void print_picture(const json_t *picture, th_format format, FILE *file)
{
    char line[512] = "";
    if (!picture)
        return;
    fputc('\n', file);
    th_report_add_picture(picture, line, sizeof line);
    th_write_line(file, format, "%s", line);
}

/* ---- fastest schedulers ---- */

/* The rows of one comparison; NULL where a scheduler is missing. */
typedef struct comparison {
    const th_row *first;
    const th_row *rows[TH_SCHEDULER_COUNT];
    uint32_t count;
} comparison;

static comparison comparison_of(const th_report *report, uint32_t first)
{
    comparison c = {.first = &report->rows[first]};
    for (uint32_t r = first; r < report->row_count && is_same_what(c.first, &report->rows[r]); r++)
        for (int s = 0; s < TH_SCHEDULER_COUNT; s++)
            if (strcmp(report->rows[r].name + what_length(c.first), th_scheduler_name((th_scheduler)s)) == 0 &&
                !report->rows[r].failure[0]) {
                c.rows[s] = &report->rows[r];
                c.count++;
            }
    return c;
}

/* The fastest with threads; the plain loop is their baseline. */
static const th_row *fastest_of(const comparison *c)
{
    const th_row *best = NULL;
    double least = HUGE_VAL;
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
        if (!c->rows[s] || s == TH_SCHEDULER_SERIAL)
            continue;
        const double median = th_samples_stats(&c->rows[s]->real_ns).median;
        if (median < least) {
            least = median;
            best = c->rows[s];
        }
    }
    return best;
}

static bool is_not_slower(const th_row *row, const th_row *best)
{
    return row == best || th_rank_test_run(&row->real_ns, &best->real_ns).p > 1 - TH_CONFIDENCE;
}

static void add_comparison(th_table *table, const comparison *c)
{
    const th_row *best = fastest_of(c);
    th_table_cell(table, "%.*s", what_length(c->first) - 1, c->first->name);
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
        if (!th_scheduler_available((th_scheduler)s))
            continue;
        if (!c->rows[s]) {
            th_table_cell(table, "-");
            continue;
        }
        const bool wins = s != TH_SCHEDULER_SERIAL && is_not_slower(c->rows[s], best);
        th_table_cell(table, "%s%.2f", wins ? "* " : "", th_samples_stats(&c->rows[s]->real_ns).median / 1000);
    }
}

static th_table *create_comparisons(void)
{
    char columns[256] = "<us/call";
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++)
        if (th_scheduler_available((th_scheduler)s)) {
            const size_t used = strlen(columns);
            snprintf(columns + used, sizeof columns - used, "|>%s", th_scheduler_name((th_scheduler)s));
        }
    return th_table_create(columns);
}

/* Only if there is more than one scheduler to compare. */
static bool print_comparisons(const th_report *report, th_format format, FILE *file)
{
    uint32_t shown = 0;
    th_table *table = create_comparisons();
    for (uint32_t r = 0; r < report->row_count; r++) {
        if (report->rows[r].characters > 0 || (r > 0 && is_same_what(&report->rows[r - 1], &report->rows[r])))
            continue;
        const comparison c = comparison_of(report, r);
        if (c.count > 1) {
            add_comparison(table, &c);
            shown++;
        }
    }
    if (shown > 0)
        fputc('\n', file);
    const bool printed = shown == 0 || th_table_write(table, format, file);
    th_table_destroy(table);
    if (shown > 0)
        fputc('\n', file);
    if (shown > 0)
        th_write_line(file, format, "* fastest with threads, or not significantly slower");
    return printed;
}

/* ---- all ---- */

typedef enum kind {
    KIND_POSE, /* includes the tutorial method and the memory floor */
    KIND_VARIATION,
    KIND_JOB,
    KIND_FRAME,
    KIND_COUNT,
} kind;

static const char *const columns[KIND_COUNT] = {
    "<entry|>ns/bone|>us/character|>vs tutorial|>x memory floor|>max error|<palette hash|>frames|>MAD|>95 % CI",
    "<entry|>ns/bone|>us/character|>max error|>error vs source|>key bytes|<palette hash|>frames|>MAD|>95 % CI",
    "<entry|>threads|>us/call|>min|>speed-up|>efficiency|>efficiency at p90|>overhead|>idle cores|>calls|>MAD|>95 % CI",
    "<entry|>characters|>visible|>ms/frame|>min|>vs redraw|>cull|>wait|>pose|>draw|>frames|>MAD|>95 % CI",
};

static kind kind_of(const th_row *row)
{
    if (row->characters == 0)
        return KIND_JOB;
    if (strncmp(row->name, "frame/", 6) == 0)
        return KIND_FRAME;
    return strncmp(row->name, "pose/", 5) == 0 || strncmp(row->name, "limit/", 6) == 0 ? KIND_POSE : KIND_VARIATION;
}

static bool print_kind(const th_report *report, kind wanted, th_format format, FILE *file)
{
    const th_row *last = NULL;
    th_table *table = th_table_create(columns[wanted]);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (row->failure[0] || kind_of(row) != wanted)
            continue;
        if (wanted == KIND_POSE)
            add_pose(table, report, row);
        else if (wanted == KIND_VARIATION)
            add_variation(table, last, row);
        else if (wanted == KIND_JOB)
            add_job(table, last, row);
        else
            add_frame(table, last, row);
        last = row;
    }
    if (last)
        fputc('\n', file);
    bool printed = !last || th_table_write(table, format, file);
    th_table_destroy(table);
    return printed;
}

bool th_bench_print_figures(const th_report *report, th_format format, FILE *file)
{
    bool printed = true;
    for (int k = 0; k < KIND_FRAME; k++)
        printed = print_kind(report, (kind)k, format, file) && printed;
    printed = print_comparisons(report, format, file) && printed;
    print_picture(report->picture, format, file);
    printed = print_kind(report, KIND_FRAME, format, file) && printed;
    fputc('\n', file);
    th_write_line(
        file, format,
        "Medians. MAD: median absolute deviation, relative to the median. %.0f %% CI: half-width, relative to "
        "the median.",
        100 * TH_CONFIDENCE);
    th_write_line(
        file, format,
        "Max error: against double precision, in scene units. Error vs source: the same, against the interpolation "
        "of the file.");
    return printed;
}

bool th_bench_print(const th_report *report, th_format format, FILE *file)
{
    th_report_print_conditions(report, format, file);
    const bool printed = report->is_dry_run ? th_report_print_dry_run(report, format, file)
                                            : th_bench_print_figures(report, format, file);
    th_report_print_warnings(report, format, file);
    return printed;
}
