#include "pareto.h"

#include "plot.h"
#include "row_figures.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Nothing is drawn below this many pixels, which a logarithmic axis could not show; nor can anybody see them. */
#define LEAST_PX 0.001

double th_pareto_ms(const th_row *row)
{
    assert(row);
    return row->failure[0] ? (double)NAN : th_row_own(row, "pose_ms");
}

double th_pareto_px(const th_row *row)
{
    assert(row);
    return row->failure[0] ? (double)NAN : th_row_own(row, "error_px_p99");
}

static bool is_setting(const th_row *row)
{
    return isfinite(th_pareto_ms(row)) && isfinite(th_pareto_px(row));
}

static bool beats(const th_row *a, const th_row *b)
{
    const double ms = th_pareto_ms(a), px = th_pareto_px(a), other_ms = th_pareto_ms(b), other_px = th_pareto_px(b);
    return ms <= other_ms && px <= other_px && (ms < other_ms || px < other_px);
}

bool th_pareto_is_front(const th_report *report, const th_row *row)
{
    assert(report && row);
    bool is_beaten = !is_setting(row);
    for (uint32_t r = 0; r < report->row_count; r++)
        is_beaten = is_beaten || (is_setting(&report->rows[r]) && beats(&report->rows[r], row));
    return !is_beaten;
}

const th_row *th_pareto_best(const th_report *report, double px)
{
    assert(report);
    const th_row *best = NULL;
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (is_setting(row) && th_pareto_px(row) <= px &&
            (!best || th_pareto_ms(row) < th_pareto_ms(best) || beats(row, best)))
            best = row;
    }
    return best;
}

static const char *name_of(const th_row *row)
{
    const char *slash = strchr(row->name, '/');
    return slash ? slash + 1 : row->name;
}

static uint32_t count_settings(const th_report *report)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < report->row_count; r++)
        count += is_setting(&report->rows[r]);
    return count;
}

static void write_best(const th_report *report, char *out, size_t size)
{
    const th_row *best = th_pareto_best(report, TH_PARETO_PX);
    if (best)
        th_append(out, size, "Best at half a pixel: %s, %.3g ms to pose a frame, p99 %.2g pixels.", name_of(best),
                  th_pareto_ms(best), th_pareto_px(best));
    else
        th_append(out, size, "No setting is within half a pixel (p99).");
}

void th_pareto_summarize(const th_report *report, th_format format, FILE *file)
{
    char line[192] = "";
    assert(report && file);
    if (count_settings(report) == 0)
        return;
    write_best(report, line, sizeof line);
    th_write_line(file, format, "%s", line);
}

/* ---- the plot ---- */

static double shown_px(const th_row *row)
{
    return fmax(th_pareto_px(row), LEAST_PX);
}

/* The next of the front to the right; NULL: the last. */
static const th_row *next_of_front(const th_report *report, const th_row *before)
{
    const th_row *next = NULL;
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (th_pareto_is_front(report, row) && (!before || th_pareto_ms(row) > th_pareto_ms(before)) &&
            (!next || th_pareto_ms(row) < th_pareto_ms(next)))
            next = row;
    }
    return next;
}

/* Steps: between two settings only the slower one, which is closer, is there. */
static void draw_front(th_plot *plot, const th_report *report)
{
    const th_row *row = next_of_front(report, NULL), *next;
    for (; row && (next = next_of_front(report, row)); row = next) {
        const double x[] = {th_pareto_ms(row), th_pareto_ms(next), th_pareto_ms(next)};
        const double y[] = {shown_px(row), shown_px(row), shown_px(next)};
        th_plot_line(plot, TH_INK_VERMILION, false, x, y, 3);
    }
}

static void draw_settings(th_plot *plot, const th_report *report)
{
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (is_setting(row))
            th_plot_point(plot, th_pareto_is_front(report, row) ? TH_INK_VERMILION : TH_INK_BLUE, false,
                          th_pareto_ms(row), shown_px(row), "%s: %.3g ms, p99 %.2g pixels", row->name,
                          th_pareto_ms(row), th_pareto_px(row));
    }
    for (uint32_t r = 0; r < report->row_count; r++)
        if (is_setting(&report->rows[r]))
            th_plot_label(plot, th_pareto_ms(&report->rows[r]), shown_px(&report->rows[r]), name_of(&report->rows[r]));
}

void th_pareto_draw(const th_report *report, FILE *file)
{
    assert(report && file);
    static const th_key keys[] = {{"the front: none is better in both", TH_INK_VERMILION, false},
                                  {"others", TH_INK_BLUE, false}};
    char note[384] = "Time to pose the characters of a frame, and the error on screen of 99 of 100 visible ones: lower "
                     "left is better. Errors below a thousandth of a pixel are shown there. ";
    if (count_settings(report) == 0)
        return;
    write_best(report, note, sizeof note);
    const th_plot_desc desc = {
        .title = "Milliseconds against pixels",
        .note = note,
        .x_title = "ms to pose a frame",
        .y_title = "error on screen, p99, pixels",
        .x = th_axis_log(),
        .y = th_axis_log(),
        .is_tall = true,
        .keys = keys,
        .key_count = sizeof keys / sizeof *keys,
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        th_plot_rule_y(&plot, TH_PARETO_PX, "half a pixel");
        draw_front(&plot, report);
        draw_settings(&plot, report);
    }
}
