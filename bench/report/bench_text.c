/* The tables of a bench run. */
#include "roofline.h"
#include "row_figures.h"
#include "tables.h"

#include <throng/bench/bench.h>
#include <throng/bench/rank_test.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- rows ---- */

static th_row_view view_of(const th_row *row)
{
    if (strncmp(row->name, "ceiling/", 8) == 0)
        return TH_ROW_JSON; /* in no table of its own */
    if (row->characters == 0)
        return TH_ROW_JOB;
    if (strncmp(row->name, "frame/", 6) == 0)
        return TH_ROW_FRAME;
    const bool is_pose = strncmp(row->name, "pose/", 5) == 0 || strncmp(row->name, "limit/", 6) == 0;
    return is_pose ? TH_ROW_POSE : TH_ROW_VARIATION;
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

/* ---- fastest schedulers ---- */

/* The row of a scheduler among those compared with the row `first`; NULL if it is missing or failed. */
static const th_row *row_of(const th_report *report, uint32_t first, th_scheduler scheduler)
{
    const th_row *row = &report->rows[first];
    const int length = what_length(row);
    for (; row < report->rows + report->row_count && is_same_what(&report->rows[first], row); row++)
        if (strcmp(row->name + length, th_scheduler_name(scheduler)) == 0 && !row->failure[0])
            return row;
    return NULL;
}

static bool is_not_slower(const th_row *row, const th_row *best)
{
    return row == best || th_rank_test_run(&row->real_ns, &best->real_ns).p > 1 - TH_CONFIDENCE;
}

/* The fastest is one with threads; the plain loop is their baseline. */
static void add_schedulers(th_sheet *sheet, const th_report *report, uint32_t first)
{
    const th_row *rows[TH_SCHEDULER_COUNT], *best = NULL;
    double us[TH_SCHEDULER_COUNT], least = HUGE_VAL;
    char name[sizeof report->rows->name], heads[TH_SCHEDULER_COUNT][32];
    th_figure figures[1 + TH_SCHEDULER_COUNT] = {TH_COLUMN("<us/call", TH_TEXT(name))};
    uint32_t count = 1, found = 0;
    snprintf(name, sizeof name, "%.*s", what_length(&report->rows[first]) - 1, report->rows[first].name);
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
        rows[s] = row_of(report, first, (th_scheduler)s);
        us[s] = rows[s] ? th_samples_stats(&rows[s]->real_ns).median / 1000 : (double)NAN;
        found += rows[s] != NULL;
        if (s != TH_SCHEDULER_SERIAL && us[s] < least)
            least = us[s], best = rows[s];
    }
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
        const bool wins = best && rows[s] && s != TH_SCHEDULER_SERIAL && is_not_slower(rows[s], best);
        snprintf(heads[s], sizeof heads[s], s == TH_SCHEDULER_SERIAL ? ">+%s" : ">%s",
                 th_scheduler_name((th_scheduler)s));
        if (th_scheduler_available((th_scheduler)s))
            figures[count++] = TH_COLUMN(heads[s], TH_REAL(us[s], wins ? "* %.2f" : "%.2f"));
    }
    if (found > 1)
        th_sheet_add(sheet, figures, count);
}

/* Only if there is more than one scheduler to compare. */
static bool print_schedulers(const th_report *report, th_format format, FILE *file)
{
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (view_of(&report->rows[r]) == TH_ROW_JOB &&
            (r == 0 || !is_same_what(&report->rows[r - 1], &report->rows[r])))
            add_schedulers(&sheet, report, r);
    if (sheet.count == 0)
        return true;
    fputc('\n', file);
    const bool printed = th_sheet_write(&sheet, format, file);
    fputc('\n', file);
    th_write_line(file, format, "* fastest with threads, or not significantly slower");
    return printed;
}

/* ---- all ---- */

/* Groups of compared entries are separated by a blank line; all poses are compared. */
static bool print_view(const th_report *report, th_row_view view, th_format format, FILE *file)
{
    const th_row *last = NULL;
    th_sheet sheet = th_sheet_table(view);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (row->failure[0] || view_of(row) != view)
            continue;
        if (last && view != TH_ROW_POSE && !is_same_what(last, row))
            th_table_gap(sheet.table);
        th_row_add(&sheet, report, row, 0);
        last = row;
    }
    if (last)
        fputc('\n', file);
    return th_sheet_write(&sheet, format, file);
}

static bool print_figures(const void *result, th_format format, FILE *file)
{
    const th_report *report = result;
    bool printed = true;
    for (th_row_view view = TH_ROW_POSE; view <= TH_ROW_JOB; view = 2 * view)
        printed = print_view(report, view, format, file) && printed;
    printed = th_roofline_print(report, format, file) && printed;
    printed = print_schedulers(report, format, file) && printed;
    if (report->picture)
        fputc('\n', file);
    th_report_print_picture(report->picture, format, file);
    printed = print_view(report, TH_ROW_FRAME, format, file) && printed;
    fputc('\n', file);
    th_write_line(file, format, "Medians. %s%.0f %% CI: half-width, relative to the median.%s",
                  format == TH_FORMAT_TEXT ? "" : "MAD: median absolute deviation, relative to the median. ",
                  100 * TH_CONFIDENCE, format == TH_FORMAT_TEXT ? " --wide shows more columns." : "");
    th_write_line(
        file, format,
        "Max error: against double precision, in scene units. Error vs source: the same, against the interpolation "
        "of the file.");
    return printed;
}

const th_tables th_bench_tables = {NULL, print_figures};

bool th_bench_print(const th_report *report, th_format format, FILE *file)
{
    assert(report && file);
    return th_tables_print(&th_bench_tables, report, report, format, file);
}
