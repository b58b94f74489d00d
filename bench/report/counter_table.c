#include "counter_table.h"

#include "figures.h"
#include "tables.h"

#include <bench/counters.h>

#include <math.h>

static double value_of(const json_t *counters, th_counter counter)
{
    const json_t *value = json_object_get(counters, th_counter_name(counter));
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Per bone; waits are not part of it. */
static void add_row(th_sheet *sheet, const th_row *row, const json_t *counters)
{
    double c[TH_COUNTER_COUNT];
    const double bones = (double)row->bones;
    for (int i = 0; i < TH_COUNTER_COUNT; i++)
        c[i] = value_of(counters, (th_counter)i);
    const th_figure figures[] = {
        TH_COLUMN("<entry", TH_TEXT(row->name)),
        TH_COLUMN(">cycles", TH_REAL(c[TH_COUNTER_CYCLES] / bones, "%.1f")),
        TH_COLUMN(">instructions", TH_REAL(c[TH_COUNTER_INSTRUCTIONS] / bones, "%.1f")),
        TH_COLUMN(">IPC", TH_REAL(c[TH_COUNTER_INSTRUCTIONS] / c[TH_COUNTER_CYCLES], "%.2f")),
        TH_COLUMN(">L1 misses", TH_REAL(c[TH_COUNTER_L1_MISSES] / bones, "%.3f")),
        TH_COLUMN(">LLC misses", TH_REAL(c[TH_COUNTER_LLC_MISSES] / bones, "%.3f")),
        TH_COLUMN(">CPU ns", TH_REAL(c[TH_COUNTER_CPU_NS] / bones, "%.2f")),
        TH_COLUMN(">+page faults/frame", TH_REAL(c[TH_COUNTER_PAGE_FAULTS], "%.2f")),
        TH_COLUMN(">switches/frame", TH_REAL(c[TH_COUNTER_CONTEXT_SWITCHES], "%.2f")),
    };
    th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
}

bool th_counter_table_print(const th_report *report, th_format format, FILE *file)
{
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        const json_t *counters = json_object_get(row->own, "counters");
        if (counters && !row->failure[0])
            add_row(&sheet, row, counters);
    }
    if (sheet.count == 0)
        return true;
    fputc('\n', file);
    th_write_line(file, format, "Counted in additional frames, for each bone:");
    th_print_gap(format, file);
    const bool printed = th_sheet_write(&sheet, format, file);
    if (report->counters_missing[0]) {
        fputc('\n', file);
        th_write_line(file, format, "%s", report->counters_missing);
    }
    return printed;
}
