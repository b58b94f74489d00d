#include "pareto.h"

#include "row_figures.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Milliseconds of posing in a frame, and pixels: the 99th percentile. NaN: the row is no setting. */
static double ms_of(const th_row *row)
{
    return row->failure[0] ? (double)NAN : th_row_own(row, "pose_ms");
}

static double px_of(const th_row *row)
{
    return row->failure[0] ? (double)NAN : th_row_own(row, "error_px_p99");
}

static bool is_setting(const th_row *row)
{
    return isfinite(ms_of(row)) && isfinite(px_of(row));
}

static bool beats(const th_row *a, const th_row *b)
{
    const double ms = ms_of(a), px = px_of(a), other_ms = ms_of(b), other_px = px_of(b);
    return ms <= other_ms && px <= other_px && (ms < other_ms || px < other_px);
}

const th_row *th_pareto_best(const th_report *report, double px)
{
    assert(report);
    const th_row *best = NULL;
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (is_setting(row) && px_of(row) <= px && (!best || ms_of(row) < ms_of(best) || beats(row, best)))
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
                  ms_of(best), px_of(best));
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
