/* The tables of a bench run, and its summary. */
#include "figures.h"

#include <bench/bench.h>
#include <bench/rank_test.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- rows ---- */

static th_row_view view_of(const th_row *row)
{
    if (strncmp(row->name, "ceiling/", 8) == 0)
        return TH_ROW_JSON; /* in no table of its own */
    if (row->characters == 0)
        return strncmp(row->name, "jobs/", 5) == 0 ? TH_ROW_JOB : TH_ROW_LOAD;
    if (strncmp(row->name, "frame/", 6) == 0)
        return TH_ROW_FRAME;
    if (strncmp(row->name, "error/", 6) == 0)
        return TH_ROW_ERROR;
    const bool is_pose =
        strncmp(row->name, "pose/", 5) == 0 || strncmp(row->name, "limit/", 6) == 0 || th_row_is_external(row);
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

/* Comparisons of more than one scheduler. The fastest is one with threads; the plain loop is their baseline. */
static bool print_schedulers(const th_report *report, th_output_format format, FILE *file)
{
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *first = &report->rows[r], *rows[TH_SCHEDULER_COUNT], *best = NULL;
        if (view_of(first) != TH_ROW_JOB || (r > 0 && is_same_what(&report->rows[r - 1], first)))
            continue;
        double us[TH_SCHEDULER_COUNT], least = HUGE_VAL;
        uint32_t count = 1, found = 0;
        for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
            rows[s] = row_of(report, r, (th_scheduler)s);
            us[s] = rows[s] ? th_samples_stats(&rows[s]->real_ns).median / 1000 : (double)NAN;
            found += rows[s] != NULL;
            if (s != TH_SCHEDULER_SERIAL && us[s] < least)
                least = us[s], best = rows[s];
        }
        char name[sizeof first->name], heads[TH_SCHEDULER_COUNT][32];
        snprintf(name, sizeof name, "%.*s", what_length(first) - 1, first->name);
        th_figure figures[1 + TH_SCHEDULER_COUNT] = {TH_COLUMN("<us/call", TH_TEXT(name))};
        for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
            const bool is_serial = s == TH_SCHEDULER_SERIAL;
            const bool wins = best && rows[s] && !is_serial && is_not_slower(rows[s], best);
            snprintf(heads[s], sizeof heads[s], is_serial ? ">+%s" : ">%s", th_scheduler_name((th_scheduler)s));
            if (th_scheduler_available((th_scheduler)s))
                figures[count++] = TH_COLUMN(heads[s], TH_REAL(us[s], wins ? "* %.2f" : "%.2f"));
        }
        if (found > 1)
            th_sheet_add(&sheet, figures, count);
    }
    if (sheet.count == 0)
        return true;
    fputc('\n', file);
    const bool printed = th_sheet_write(&sheet, format, file);
    fputc('\n', file);
    th_write_line(file, format, "* fastest with threads, or not significantly slower");
    return printed;
}

/* ---- the roofline ---- */

/* The arithmetic of each kernel, by how many bytes it needs for that, under what this core can do at most (S. Williams,
 * A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model, 2009). From the pose/ and the ceiling/
 * entries of a report.
 *
 * Bytes are those that cannot be avoided: keys that are read and palettes that are written. What a kernel keeps in the
 * first-level cache meanwhile is not counted, so that nothing can be above its roof. */

static const char *const levels[] = {"l1", "l2", "l3", "memory"};
enum { LEVELS = sizeof levels / sizeof *levels };

/* NaN: not measured. */
static double ceiling(const th_report *report, const char *what, const char *which, const char *field)
{
    char name[64];
    snprintf(name, sizeof name, "ceiling/%s/%s", what, which);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (strcmp(report->rows[r].name, name) == 0 && !report->rows[r].failure[0])
            return th_row_own(&report->rows[r], field);
    return (double)NAN;
}

/* The smallest level that can hold so many bytes. */
static uint32_t level_of(const th_context *context, double bytes)
{
    uint32_t least = LEVELS - 1;
    for (uint32_t c = 0; c < context->cache_count; c++) {
        const th_cache *cache = &context->caches[c];
        if (strcmp(cache->type, "Instruction") != 0 && (double)cache->bytes >= bytes && cache->level - 1 < least)
            least = cache->level - 1;
    }
    return least;
}

/* Time is at least that of the arithmetic, and that of reading keys and that of writing palettes, from and to the
 * smallest caches that hold them. They overlap. */
static void add_kernel(th_sheet *sheet, const th_report *report, const th_row *row)
{
    char isa[16]; /* "avx2" of "pose/avx2/f32" */
    const char *first = strchr(row->name, '/');
    snprintf(isa, sizeof isa, "%.*s", first ? (int)strcspn(first + 1, "/") : 0, first ? first + 1 : "");
    const double flops = th_row_own(row, "flops"), keys = th_row_own(row, "key_bytes_read");
    const double palettes = th_row_own(row, "palette_bytes"), ns = th_samples_stats(&row->cpu_ns).median;
    const double peak = ceiling(report, "multiply_add", isa, "flops_per_second"), bones = (double)row->bones;
    const uint32_t level = level_of(&report->context, palettes);
    const uint32_t key_level = level_of(&report->context, th_row_own(row, "key_bytes"));
    const double read_s = keys / ceiling(report, "read", levels[key_level], "bytes_per_second");
    const double write_s = palettes / ceiling(report, "write", levels[level], "bytes_per_second");
    const double moving_s = fmax(read_s, write_s);
    if (row->failure[0] || strncmp(row->name, "pose/", 5) != 0 || !(flops > 0) || !(ns > 0) ||
        !isfinite(peak + moving_s))
        return;
    const double rate = flops / ns * 1e9, roof = fmin(peak, flops / moving_s);
    const char *const limit = !(flops / moving_s < peak) ? "multiply-add"
                              : write_s < read_s         ? levels[key_level]
                                                         : levels[level];
    const th_figure figures[] = {
        TH_COLUMN("<roofline", TH_TEXT(row->name)),
        TH_COLUMN(">flop/bone", TH_REAL(flops / bones, "%.1f")),
        TH_COLUMN(">reads B/bone", TH_REAL(keys / bones, "%.1f")),
        TH_COLUMN(">writes B/bone", TH_REAL(palettes / bones, "%.1f")),
        TH_COLUMN(">GFLOP/s", TH_REAL(rate / 1e9, "%.1f")),
        TH_COLUMN(">peak", TH_REAL(peak / 1e9, "%.1f")),
        TH_COLUMN(">of roof", TH_SHARE(rate > TH_REPORT_MAX_EFFICIENCY * roof ? (double)NAN : rate / roof, "%.*f %%")),
        TH_COLUMN("<roof", TH_TEXT(limit)),
    };
    TH_SHEET_ADD(sheet, figures);
}

/* Nothing without ceilings and poses. */
static bool print_roofline(const th_report *report, th_output_format format, FILE *file)
{
    th_sheet ceilings = th_sheet_table(0), kernels = th_sheet_table(0);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        const th_figure figures[] = {
            TH_COLUMN("<one core", TH_TEXT(row->name)),
            TH_COLUMN(">GFLOP/s", TH_REAL(th_row_own(row, "flops_per_second") / 1e9, "%.3g")),
            TH_COLUMN(">GB/s", TH_REAL(th_row_own(row, "bytes_per_second") / 1e9, "%.3g")),
        };
        if (strncmp(row->name, "ceiling/", 8) == 0 && !row->failure[0])
            TH_SHEET_ADD(&ceilings, figures);
        add_kernel(&kernels, report, row);
    }
    const bool has_kernels = kernels.count > 0;
    if (ceilings.count > 0)
        fputc('\n', file);
    bool printed = th_sheet_write(&ceilings, format, file);
    if (has_kernels)
        fputc('\n', file);
    printed = th_sheet_write(&kernels, format, file) && printed;
    if (!has_kernels)
        return printed;
    fputc('\n', file);
    th_write_line(file, format,
                  "Roofline: operations of the kernel, a fused multiply-add as two, against keys read and palettes "
                  "written.");
    th_write_line(
        file, format,
        "Roof: what the multiply-adds alone take on that instruction set, or the keys or palettes alone, in CPU "
        "time. \"-\": above it, which cannot be: what it is held against was disturbed.");
    return printed;
}

/* ---- all ---- */

/* Groups of compared entries are separated by a blank line; all poses are compared. */
static bool print_view(const th_report *report, th_row_view view, th_output_format format, FILE *file)
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

static void print_notes(const th_report *report, th_output_format format, FILE *file)
{
    fputc('\n', file);
    th_write_line(file, format, "Medians. %s%.0f %% CI: half-width, relative to the median, %s.%s",
                  format == TH_OUTPUT_TEXT ? "" : "MAD: median absolute deviation, relative to the median. ",
                  100 * TH_CONFIDENCE,
                  report->process_count > 1 ? "over processes"
                                            : "of this process only; others differ by more (--processes 12 measures "
                                              "that)",
                  format == TH_OUTPUT_TEXT ? " --out FILE.md has more columns." : "");
    th_write_line(
        file, format,
        "Max error: against double precision, in scene units. Error vs source: the same, against the interpolation "
        "of the file.");
    for (const th_row *row = report->rows; row < report->rows + report->row_count; row++) {
        /* What other programs' entries are: a reader must not take them for ours. */
        if (th_row_is_external(row) && !row->failure[0])
            th_write_line(file, format, "%s: %s characters, %s bones, timed by the program itself. %s", row->name,
                          th_digits_from(row->characters).text, th_digits_from(row->bones).text,
                          json_string_value(json_object_get(row->once, "description")));
        if (strcmp(row->name, "pose/tutorial") == 0 && row->overrides && !row->failure[0])
            th_write_line(
                file, format,
                "%s plays keys where a clip has curves, and is up to %.2g off these; max error is against the "
                "keys.",
                row->name, row->error_vs_source);
    }
}

/* ---- the summary ---- */

static bool is_timed(const th_row *row)
{
    return !row->failure[0] && row->real_ns.count > 0;
}

static double median_of(const th_row *row)
{
    return th_samples_stats(&row->real_ns).median;
}

/* The fastest pose, beside the tutorial method and the memory floor. False: there is none. */
static bool summarize_poses(const th_report *report, th_output_format format, FILE *file)
{
    const th_row *best = NULL, *tutorial = NULL;
    for (const th_row *row = report->rows; row < report->rows + report->row_count; row++) {
        if (strncmp(row->name, "pose/", 5) != 0 || !is_timed(row))
            continue;
        best = !best || median_of(row) < median_of(best) ? row : best;
        tutorial = strcmp(row->name, "pose/tutorial") == 0 ? row : tutorial;
    }
    if (!best)
        return false;
    char line[256] = "";
    const double bone_ns = median_of(best) / (double)best->bones, floor_ns = th_row_memory_floor_ns(report, best);
    th_write_line(file, format, "Fastest pose: %s, %.2f ns/bone, %.3f us/character.", best->name, bone_ns,
                  median_of(best) / 1e3 / (double)best->characters);
    if (tutorial && tutorial != best)
        th_append(line, sizeof line, "%.3g times as fast as the tutorial method",
                  median_of(tutorial) / median_of(best));
    if (isfinite(floor_ns))
        th_append(line, sizeof line, "%s%.3g times the memory floor, the time to write the palettes alone",
                  line[0] ? "; " : "", bone_ns / floor_ns);
    if (line[0])
        th_write_line(file, format, "It is %s.", line);
    return true;
}

/* Our scheduler and the fastest other one with threads, in the comparison that begins with this row. Returns whether
 * there are both. */
static bool summarize_comparison(const th_report *report, uint32_t first, th_output_format format, FILE *file)
{
    const th_row *ours = row_of(report, first, TH_SCHEDULER_WORK_STEALING), *other = NULL;
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
        const th_row *row = row_of(report, first, (th_scheduler)s);
        const bool is_other = row && row != ours && s != TH_SCHEDULER_SERIAL && is_timed(row);
        if (is_other && (!other || median_of(row) < median_of(other)))
            other = row;
    }
    if (!ours || !is_timed(ours) || !other)
        return false;
    const th_row *best = median_of(ours) <= median_of(other) ? ours : other, *next = best == ours ? other : ours;
    const int length = what_length(ours);
    const double ratio = median_of(next) / median_of(best);
    th_write_line(file, format, "%.*s: %s is fastest, %.2f us/call; %s takes %.*f times as long%s.", length - 1,
                  ours->name, best->name + length, median_of(best) / 1e3, next->name + length, ratio < 10 ? 2 : 0,
                  ratio, is_not_slower(next, best) ? ", which is not significant" : "");
    return true;
}

/* Without poses: a frame's calls and the smallest call, else what was compared first. */
static void summarize_schedulers(const th_report *report, th_output_format format, FILE *file)
{
    static const char *const names[] = {"jobs/frame:60hz/", "jobs/fork_join:"};
    bool is_written = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t first = 0;
        while (first < report->row_count && strncmp(report->rows[first].name, names[i], strlen(names[i])) != 0)
            first++;
        if (first < report->row_count)
            is_written |= summarize_comparison(report, first, format, file);
    }
    for (uint32_t r = 0; r < report->row_count && !is_written; r++)
        if (view_of(&report->rows[r]) == TH_ROW_JOB)
            is_written = summarize_comparison(report, r, format, file);
}

/* Settings save time by drawing characters a little wrong: milliseconds of posing in a frame against pixels, the 99th
 * percentile. Any row that has both figures is a setting, whatever it is called. Names the one that takes least time
 * within half a pixel, which people do not see; of equal ones that with fewer pixels. */
static void summarize_settings(const th_report *report, th_output_format format, FILE *file)
{
    const th_row *best = NULL;
    double best_ms = 0, best_px = 0;
    uint32_t count = 0;
    for (const th_row *row = report->rows; row < report->rows + report->row_count; row++) {
        const double ms = th_row_own(row, "pose_ms"), px = th_row_own(row, "error_px_p99");
        if (row->failure[0] || !isfinite(ms) || !isfinite(px))
            continue;
        count++;
        if (px <= 0.5 && (!best || ms < best_ms || (ms <= best_ms && px < best_px)))
            best = row, best_ms = ms, best_px = px;
    }
    if (best) {
        const char *slash = strchr(best->name, '/');
        th_write_line(file, format, "Best at half a pixel: %s, %.3g ms to pose a frame, p99 %.2g pixels.",
                      slash ? slash + 1 : best->name, best_ms, best_px);
    } else if (count > 0)
        th_write_line(file, format, "No setting is within half a pixel (p99).");
}

/* What a reader looks for, where a terminal shows it: at the very end. */
static void print_summary(const th_report *report, th_output_format format, FILE *file)
{
    if (report->is_dry_run)
        return;
    th_print_gap(format, file);
    if (report->is_partial)
        th_write_line(file, format, "PARTIAL RESULT: the measurement was interrupted.");
    if (!summarize_poses(report, format, file))
        summarize_schedulers(report, format, file);
    summarize_settings(report, format, file);

    /* How well the medians are known, and how many warnings there are. */
    json_t *warnings = th_report_warnings(report);
    const uint32_t count = (uint32_t)json_array_size(warnings);
    json_decref(warnings);
    const th_row *worst = NULL;
    double half_width = 0;
    char line[256] = "";
    for (const th_row *row = report->rows; row < report->rows + report->row_count; row++) {
        const double own = is_timed(row) ? th_row_ci_half_width(row) : 0;
        if (own > half_width)
            half_width = own, worst = row;
    }
    if (isfinite(half_width) && worst)
        th_append(line, sizeof line, "the widest %.0f %% CI is +-%.2g %% (%s); ", 100 * TH_CONFIDENCE, 100 * half_width,
                  worst->name);
    if (count > 0)
        th_append(line, sizeof line, "%u warning%s above", count, th_plural(count));
    else
        th_append(line, sizeof line, "no warnings");
    th_write_line(file, format, "Doubt: %s.", line);
}

/* ---- all of it ---- */

bool th_bench_print(const th_report *report, th_output_format format, FILE *file)
{
    assert(report && file);
    bool printed = true;
    th_report_print_conditions(report, format, file);
    if (report->is_dry_run)
        printed = th_report_print_dry_run(report, format, file);
    else {
        for (th_row_view view = TH_ROW_POSE; view <= TH_ROW_JOB; view = 2 * view)
            printed = print_view(report, view, format, file) && printed;
        printed = print_view(report, TH_ROW_LOAD, format, file) && printed;
        printed = print_roofline(report, format, file) && printed;
        printed = print_schedulers(report, format, file) && printed;
        if (report->picture)
            fputc('\n', file);
        th_report_print_picture(report->picture, format, file);
        printed = print_view(report, TH_ROW_FRAME, format, file) && printed;
        printed = print_view(report, TH_ROW_ERROR, format, file) && printed;
        printed = th_report_print_counters(report, format, file) && printed;
        print_notes(report, format, file);
    }
    th_report_print_warnings(report, format, file);
    print_summary(report, format, file);
    return printed;
}

/* ---- while it is measured ---- */

static void print_pending_schedulers(th_bench_printer *p, const th_report *report)
{
    if (p->view == TH_ROW_JOB)
        p->failed |= !print_schedulers(report, p->format, p->file);
}

/* Ends the table in progress and begins that of a row, as wide as its longest name. */
static void begin_view(th_bench_printer *p, const th_report *report, uint32_t first)
{
    const char *const name = report->rows[first].name;
    if (!p->last)
        th_report_print_conditions(report, p->format, p->file);
    else
        print_pending_schedulers(p, report);
    p->view = (int)view_of(&report->rows[first]);
    p->widths = (th_table_widths){.has_heading = false};
    for (uint32_t r = first; r < report->row_count; r++) {
        const int length = (int)strlen(report->rows[r].name);
        const bool is_same = p->view == TH_ROW_LOAD ? view_of(&report->rows[r]) == TH_ROW_LOAD
                                                    : strncmp(report->rows[r].name, name, strcspn(name, "/") + 1) == 0;
        p->widths.columns[0] = is_same && length > p->widths.columns[0] ? length : p->widths.columns[0];
    }
    if (p->view == TH_ROW_LOAD) /* rows that differ by far: "1234.567", "123,456,789", "+-1.23 %" */
        p->widths.columns[1] = 8, p->widths.columns[2] = 11, p->widths.columns[4] = 8;
    fputc('\n', p->file);
    if (p->view == TH_ROW_FRAME || p->view == TH_ROW_ERROR)
        th_report_print_picture(report->picture, p->format, p->file);
}

void th_bench_printer_add(void *printer, const th_report *report, uint32_t first, uint32_t count)
{
    assert(printer && report && first + count <= report->row_count);
    th_bench_printer *p = printer;
    th_sheet sheet = {0};
    for (uint32_t r = first; r < first + count; r++) {
        const th_row *row = &report->rows[r];
        if (row->failure[0] || view_of(row) == TH_ROW_JSON)
            continue;
        if (!p->last || (int)view_of(row) != p->view) {
            p->failed |= !th_sheet_write_more(&sheet, p->format, &p->widths, p->file);
            begin_view(p, report, r);
            sheet = th_sheet_table((unsigned)p->view);
        } else if (sheet.count == 0) {
            sheet = th_sheet_table((unsigned)p->view);
            if (p->view != TH_ROW_POSE && !is_same_what(p->last, row))
                fputc('\n', p->file);
        }
        th_row_add(&sheet, report, row, 0);
        p->last = row;
    }
    p->failed |= !th_sheet_write_more(&sheet, p->format, &p->widths, p->file);
    fflush(p->file);
}

bool th_bench_printer_end(th_bench_printer *p, const th_report *report)
{
    assert(p && report);
    print_pending_schedulers(p, report);
    p->failed |= !print_roofline(report, p->format, p->file);
    p->failed |= !th_report_print_counters(report, p->format, p->file);
    print_notes(report, p->format, p->file);
    th_report_print_warnings(report, p->format, p->file);
    print_summary(report, p->format, p->file);
    return !p->failed;
}
