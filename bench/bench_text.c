/* What the bench measured, as tables for people. */
#include <throng/bench.h>

#include <throng/json.h>
#include <throng/table.h>

#include <math.h>
#include <string.h>

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

static void add_pose(th_table *table, const th_report *report, const th_row *row)
{
    th_stats stats = th_samples_stats(&row->real_ns);
    th_table_cell(table, "%s", row->name);
    th_table_cell(table, "%.2f", stats.median / (double)row->joints);
    th_table_cell(table, "%.3f", stats.median / 1000 / (double)row->characters);
    add_ratio(table, median_of(report, "pose/tutorial") / stats.median, "x");
    add_ratio(table, stats.median / median_of(report, "limit/palette_write"), "x");
    if (row->checked) {
        th_table_cell(table, "%.2g", row->max_error);
        th_table_cell(table, "%016llx", (unsigned long long)row->palette_hash);
    } else {
        th_table_cell(table, "-");
        th_table_cell(table, "-");
    }
    th_table_cell(table, "%u x %u", stats.count, row->iterations);
    add_ratio(table, 100 * th_stats_spread(&stats), " %");
}

/* ---- jobs ---- */

static double figure_of(const th_row *row, const char *name)
{
    const json_t *value = json_object_get(row->own, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Beyond a fair share of the serial time, in microseconds a call; or beyond the plain loop, in nanoseconds a chunk. */
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

static void add_job(th_table *table, const th_report *report, const th_row *row)
{
    th_stats stats = th_samples_stats(&row->real_ns);
    (void)report;
    th_table_cell(table, "%s", row->name);
    th_table_cell(table, "%u", row->threads);
    th_table_cell(table, "%.2f", stats.median / 1000);
    th_table_cell(table, "%.2f", stats.min / 1000);
    add_ratio(table, figure_of(row, "speed_up"), "x");
    add_ratio(table, 100 * figure_of(row, "efficiency"), " %");
    add_ratio(table, 100 * figure_of(row, "p10_efficiency"), " %");
    add_overhead(table, row);
    add_ratio(table, figure_of(row, "idle_cores"), "");
    th_table_cell(table, "%u x %u", stats.count, row->iterations);
    add_ratio(table, 100 * th_stats_spread(&stats), " %");
}

/* ---- all ---- */

static bool print_kind(const th_report *report, bool poses, const char *columns, FILE *file)
{
    uint32_t shown = 0;
    th_table *table = th_table_create(columns);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (row->failure[0] || (row->characters > 0) != poses)
            continue;
        shown++;
        if (poses)
            add_pose(table, report, row);
        else
            add_job(table, report, row);
    }
    if (shown > 0)
        fputc('\n', file);
    bool printed = shown == 0 || th_table_print(table, file);
    th_table_destroy(table);
    return printed;
}

bool th_bench_print(const th_report *report, FILE *file)
{
    th_report_print_conditions(report, file);
    bool printed =
        print_kind(report, true,
                   "<entry|>ns/joint|>us/character|>vs tutorial|>vs limit|>max error|<palette hash|>frames|>spread",
                   file) &&
        print_kind(
            report, false,
            "<entry|>threads|>us/call|>least|>speed-up|>efficiency|>worst tenth|>overhead|>idle cores|>calls|>spread",
            file);
    fputs("\nMedians; spread: half of the repetitions lie within it. Max error in scene units, against double "
          "precision.\n",
          file);
    th_report_print_doubts(report, file);
    return printed;
}
