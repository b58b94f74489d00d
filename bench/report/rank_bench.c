/* Table and document of entries that ranks measured at the same time. */
#include "figures.h"
#include "tables.h"

#include <throng/bench/rank_bench.h>
#include <throng/core/json.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Of an entry, over ranks. */
typedef struct spread {
    double min_ns, median_ns, max_ns;
    uint32_t slowest; /* a rank */
} spread;

static double median_of(const th_rank_bench *b, uint32_t rank, uint32_t row)
{
    return b->medians_ns[(size_t)rank * b->report->row_count + row];
}

/* Of the ranks that measured it. sorted: room for a number a rank. */
static spread spread_of(const th_rank_bench *b, uint32_t row, double *sorted)
{
    spread s = {(double)NAN, (double)NAN, 0, 0};
    uint32_t count = 0;
    for (uint32_t r = 0; r < b->ranks; r++) {
        const double ns = median_of(b, r, row);
        if (isfinite(ns))
            sorted[count++] = ns;
        if (ns > s.max_ns) {
            s.max_ns = ns;
            s.slowest = r;
        }
    }
    if (count > 0) {
        th_quantile(sorted, count, 1); /* which sorts them */
        s.min_ns = sorted[0];
        s.median_ns = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    }
    return s;
}

static json_t *ranks_json(const th_rank_bench *b, uint32_t row)
{
    json_t *array = json_array();
    for (uint32_t r = 0; r < b->ranks; r++)
        array = th_json_append(array, th_json_real(median_of(b, r, row) / 1e3));
    return array;
}

static void add_row(th_sheet *sheet, const th_rank_bench *b, uint32_t row, double *sorted)
{
    const th_row *own = &b->report->rows[row];
    const spread s = spread_of(b, row, sorted);
    const bool has_bones = own->bones > 0;
    json_t *times = ranks_json(b, row);
    const th_figure figures[] = {
        TH_FIGURE("name", "<entry", TH_TEXT(own->name)),
        TH_FIGURE("min_us", ">min us", TH_REAL(s.min_ns / 1e3, "%.2f")),
        TH_FIGURE("median_us", ">median us", TH_REAL(s.median_ns / 1e3, "%.2f")),
        TH_FIGURE("max_us", ">max us", TH_REAL(s.max_ns / 1e3, "%.2f")),
        TH_FIGURE("max_over_min", ">max / min", TH_REAL(s.max_ns / s.min_ns, "%.2f")),
        TH_FIGURE("slowest_rank", ">slowest", TH_COUNT(s.slowest)),
        TH_FIGURE("ns_per_bone", ">ns/bone",
                  TH_IF_KNOWN(has_bones, TH_REAL(s.median_ns / (double)(has_bones ? own->bones : 1), "%.2f"))),
        TH_FIELD("ranks_us", TH_JSON(times)),
    };
    th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
    json_decref(times);
}

static bool add_rows(th_sheet *sheet, const th_rank_bench *b)
{
    double *sorted = malloc(b->ranks * sizeof *sorted);
    for (uint32_t row = 0; sorted && row < b->report->row_count; row++)
        if (!b->report->rows[row].failure[0])
            add_row(sheet, b, row, sorted);
    free(sorted);
    return sorted != NULL;
}

static json_t *hosts_json(const th_rank_bench *b)
{
    json_t *array = json_array();
    for (uint32_t r = 0; r < b->ranks; r++)
        array = th_json_append(array, th_json_text(b->hosts[r]));
    return array;
}

json_t *th_rank_bench_json(const th_rank_bench *b)
{
    assert(b && b->ranks > 0);
    th_sheet entries = th_sheet_json(0);
    if (!add_rows(&entries, b)) {
        json_decref(entries.objects);
        entries.objects = NULL;
    }
    json_t *bench = json_pack("{s:i, s:i, s:i, s:b, s:o, s:o}", "ranks", (int)b->ranks, "threads_per_rank",
                              (int)b->threads, "repetitions", (int)b->repetitions, "bound", b->is_bound, "hosts",
                              hosts_json(b), "entries", entries.objects);
    return json_pack("{s:o, s:o}", "context", th_report_context_json(b->report), "rank_bench", bench);
}

bool th_rank_bench_print(const th_rank_bench *b, th_format format, FILE *file)
{
    assert(b && b->ranks > 0 && file);
    th_sheet sheet = th_sheet_table(0);
    th_report_print_conditions(b->report, format, file);
    th_write_line(file, format,
                  "Each of %u rank%s%s measures every entry at the same time as the others: medians of %u "
                  "repetitions on its own clock.",
                  b->ranks, th_plural(b->ranks), b->is_bound ? ", on CPUs of its own," : "", b->repetitions);
    th_print_gap(format, file);
    const bool has_rows = add_rows(&sheet, b);
    const bool printed = th_sheet_write(&sheet, format, file) && has_rows;
    th_print_gap(format, file);
    th_report_print_warnings(b->report, format, file);
    return printed;
}
