#include "scale_text.h"
#include "counter_table.h"
#include "measure/untimed_frames.h"
#include "own_json.h"
#include "row_interval.h"
#include "scaling/share_text.h"
#include "tables.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the first curve ---- */

static const char *const ablation_columns[1 + TH_ABLATION_COUNT] = {
    ">whole frame", ">no palette write", ">no hierarchy", ">sampling only", ">write only", ">empty chunks"};

/* Views of a point: the table, JSON in its curve, JSON in the rows of its entry. */
enum { TABLE = 1, CURVE = 2, ROW = 4, JSON = CURVE | ROW };

static bool has_figures(const th_scale *scale, uint32_t point)
{
    return !scale->report.rows[point].failure[0] && scale->points[point].frame_ns > 0;
}

/* The measured point with most threads that is not oversubscribed; any measured point where all are; NULL: none. */
static const th_scale_point *last_point(const th_scale *scale, const th_scale_curve *curve)
{
    const th_scale_point *last = NULL;
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
        if (has_figures(scale, i) && (!last || !scale->points[i].oversubscribed))
            last = &scale->points[i];
    return last;
}

/* Characters a second. */
static double throughput_of(const th_scale_point *p)
{
    return p->characters / p->frame_ns * 1e9;
}

/* Time a bone and thread. */
static double grind_ns(const th_row *row, const th_scale_point *p)
{
    return p->frame_ns * p->threads / (double)row->bones;
}

static void add_point(th_sheet *sheet, const th_scale *scale, const th_scale_curve *curve, uint32_t index)
{
    const th_row *row = &scale->report.rows[index];
    const th_scale_point *p = &scale->points[index];
    const double throughput = throughput_of(p);
    const double half_width = sheet->is_table ? th_row_ci_half_width(row) : (double)NAN;
    const th_interval *interval = &p->efficiency_interval;
    const th_share_text efficiency = th_share_text_of(&(th_estimate){p->efficiency, interval->low, interval->high});
    json_t *interval_json = th_json_reals((const double[]){interval->low, interval->high}, 2);
    json_t *pop_json = json_object();
    for (int f = 0; f < TH_POP_COUNT; f++)
        pop_json = th_json_set(pop_json, th_pop_factor_name((th_pop_factor)f), th_json_real(p->pop.values[f]));
    json_t *intervals_json = json_object();
    for (int f = 0; f < TH_POP_COUNT; f++)
        intervals_json =
            th_json_set(intervals_json, th_pop_factor_name((th_pop_factor)f),
                        th_json_reals((const double[]){p->pop.intervals[f].low, p->pop.intervals[f].high}, 2));
    json_t *counters_json = th_counters_json(&p->counters);
    char sum[40], threads[16];
    snprintf(sum, sizeof sum, "%016" PRIx64 "%016" PRIx64, p->palette_sum.high, p->palette_sum.low);
    snprintf(threads, sizeof threads, "%u%s", p->threads, p->oversubscribed ? "*" : "");
    const unsigned shared = scale->share_hz > 0 ? TABLE | JSON : 0;
    const th_figure figures[] = {
        {"name", NULL, TH_TEXT(row->name), CURVE},
        {"threads", NULL, TH_COUNT(p->threads), CURVE},
        {NULL, ">threads", TH_TEXT(threads), TABLE},
        {"characters", NULL, TH_COUNT(p->characters), CURVE},
        {NULL, scale->is_weak && !shared ? ">characters" : NULL, TH_DIGITS(p->characters), TABLE},
        {"evaluated", ">evaluated", TH_DIGITS(p->characters), shared},
        {"shared", ">shared", TH_DIGITS(p->shared), shared},
        {"share_error", ">+share error", TH_REAL(p->share_error, "%.3g"), shared},
        {"scheduler", NULL, TH_TEXT(th_scheduler_name(curve->scheduler)), ROW},
        {"grain", NULL, TH_COUNT(curve->grain), ROW},
        {"oversubscribed", NULL, TH_FLAG(p->oversubscribed), JSON},
        {NULL, ">ms/frame", TH_REAL(p->frame_ns / 1e6, "%.3f"), TABLE},
        {"characters_per_s", NULL, TH_NUMBER(throughput), JSON},
        {NULL, ">characters/s", TH_DIGITS(throughput), TABLE},
        {"speed_up", ">speed-up", TH_REAL(p->speed_up, "%.2f"), TABLE | JSON},
        {"efficiency", NULL, TH_NUMBER(p->efficiency), JSON},
        {"efficiency_interval", NULL, TH_JSON(interval_json), CURVE},
        {NULL, ">efficiency", TH_TEXT(index == curve->first ? "100 %" : efficiency.text), TABLE},
        {"bones_per_s", NULL, TH_NUMBER((double)row->bones / p->frame_ns * 1e9), ROW},
        {"grind_ns", ">+grind ns", TH_REAL(grind_ns(row, p), "%.2f"), TABLE | ROW},
        {"karp_flatt", NULL, TH_NUMBER(p->karp_flatt), JSON},
        {NULL, ">+Karp-Flatt", isnan(p->karp_flatt) ? TH_TEXT("") : TH_SHARE(p->karp_flatt, "%.1f %%"), TABLE},
        {"busy", ">busy", TH_SHARE(p->busy, "%.0f %%"), TABLE | ROW},
        {"idle_at_end", ">idle at end", TH_SHARE(p->idle_at_end, "%.1f %%"), TABLE | ROW},
        {"serial", NULL, TH_NUMBER(p->serial), ROW},
        {"imbalance", ">+imbalance", TH_SHARE(p->imbalance, "%.1f %%"), TABLE | ROW},
        {"work_us_per_frame", NULL, TH_NUMBER(p->work_ns / 1000), ROW},
        {"pop", NULL, TH_JSON(pop_json), JSON},
        {"pop_intervals", NULL, TH_JSON(intervals_json), CURVE},
        {"counters", NULL, TH_IF_GIVEN(scale->has_counters, TH_JSON(counters_json)), JSON},
        {"palette_sum", NULL, TH_TEXT(sum), JSON},
        {NULL, ">+MAD", TH_SHARE(p->relative_mad, "%.1f %%"), TABLE},
        {NULL, ">95 % CI", TH_SHARE(half_width, "+-%.1f %%"), TABLE},
        {NULL, "<+palette hash", TH_HASH(row->palette_hash), TABLE},
    };
    th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
    json_decref(interval_json);
    json_decref(pop_json);
    json_decref(intervals_json);
    json_decref(counters_json);
}

/* The points of a curve whose palettes were right. */
static th_sheet with_points(th_sheet sheet, const th_scale *scale, const th_scale_curve *curve)
{
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
        if (!scale->report.rows[i].failure[0])
            add_point(&sheet, scale, curve, i);
    return sheet;
}

json_t *th_scale_points_json(const th_scale *scale, const th_scale_curve *curve)
{
    return with_points(th_sheet_json(CURVE), scale, curve).objects;
}

json_t *th_scale_own_json(const th_scale *scale, const th_scale_curve *curve, uint32_t index)
{
    th_sheet sheet = th_sheet_json(ROW);
    add_point(&sheet, scale, curve, index);
    return th_sheet_object(&sheet);
}

/* ---- POP factors ---- */

/* Lines of a terminal are too short for the intervals. */
static bool print_factors(const th_scale *scale, const th_scale_curve *curve, th_format format, FILE *file)
{
    static const char *const heads[TH_POP_COUNT] = {
        ">global",       ">parallel",      ">load balance", ">+communication", ">serialisation", ">transfer",
        ">+computation", ">+instructions", ">IPC",          ">frequency",
    };
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_pop *pop = &scale->points[i].pop;
        th_share_text texts[TH_POP_COUNT];
        th_figure figures[1 + TH_POP_COUNT] = {TH_COLUMN(">threads", TH_COUNT(scale->points[i].threads))};
        for (int f = 0; f < TH_POP_COUNT; f++) {
            texts[f] = th_share_text_of(&(th_estimate){pop->values[f], pop->intervals[f].low, pop->intervals[f].high});
            figures[1 + f] = TH_COLUMN(heads[f], format == TH_FORMAT_TEXT ? TH_SHARE(pop->values[f], "%.1f %%")
                                                                          : TH_TEXT(texts[f].text));
        }
        if (!scale->report.rows[i].failure[0])
            th_sheet_add(&sheet, figures, 1 + TH_POP_COUNT);
    }
    return th_sheet_write(&sheet, format, file);
}

/* ---- fits ---- */

typedef struct line {
    char text[512];
} line;

static void add_estimate(line *l, const char *name, const th_estimate *e)
{
    th_append(l->text, sizeof l->text, ", %s %.3g", name, e->value);
    if (isfinite(e->low) && isfinite(e->high))
        th_append(l->text, sizeof l->text, " (%.3g to %.3g)", e->low, e->high);
}

/* measured: the most threads in the fit. */
static void add_peak(line *l, const th_fit *f, uint32_t measured)
{
    const th_estimate *n = &f->peak_threads;
    const th_digits most = th_digits_from(isfinite(f->peak_throughput.value) ? (uint64_t)f->peak_throughput.value : 0);
    if (isinf(n->value)) {
        th_append(l->text, sizeof l->text, "; no peak");
        if (isfinite(f->peak_throughput.value))
            th_append(l->text, sizeof l->text, ", but no more than %s characters/s", most.text);
        return;
    }
    th_append(l->text, sizeof l->text, "; peak of %s characters/s at %.0f threads", most.text, n->value);
    if (isfinite(n->low) && isfinite(n->high))
        th_append(l->text, sizeof l->text, " (%.0f to %.0f)", n->low, n->high);
    else if (isfinite(n->low))
        th_append(l->text, sizeof l->text, " (%.0f to any number)", n->low);
    if (n->value > 2 * measured)
        th_append(l->text, sizeof l->text, ", far beyond the measured range");
}

static void print_fits(const th_scale_curve *curve, bool is_weak, uint32_t measured, th_format format, FILE *file)
{
    static const char *const names[] = {"Amdahl's law", "Universal Scalability Law"};
    if (is_weak) {
        th_write_line(file, format, "No law is fitted: they are of one crowd, and here it grows with the threads.");
        return;
    }
    if (curve->fits[0].status != TH_FIT_GOOD) {
        th_write_line(file, format,
                      "Too few points to fit a law of scaling: %u thread count%s with a CPU for each thread, %u are "
                      "needed.",
                      curve->fits[0].point_count, th_plural(curve->fits[0].point_count), TH_FIT_MIN_POINTS);
        return;
    }
    for (int law = 0; law < TH_FIT_LAW_COUNT; law++) {
        const th_fit *f = &curve->fits[law];
        line l = {""};
        th_append(l.text, sizeof l.text, "%s: residual %.1f %%", names[law], 100 * f->rms);
        if (isfinite(f->r_squared))
            th_append(l.text, sizeof l.text, ", R^2 %.4f", f->r_squared);
        add_estimate(&l, "sigma", &f->sigma);
        if (law == TH_FIT_USL)
            add_estimate(&l, "kappa", &f->kappa);
        add_peak(&l, f, measured);
        th_write_line(file, format, "%s.", l.text);
    }
}

/* ---- ablations and memory ---- */

static const th_scale_point *point_of(const th_scale *scale, uint32_t threads)
{
    const th_scale_point *p = scale->points;
    while (p->threads != threads)
        p++;
    return p;
}

static bool print_parts(const th_scale *scale, th_format format, FILE *file)
{
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t i = 0; i < scale->part_count; i++) {
        const th_scale_parts *parts = &scale->parts[i];
        th_figure figures[2 + TH_ABLATION_COUNT] = {TH_COLUMN(">threads", TH_COUNT(parts->threads))};
        for (int a = 0; a <= TH_ABLATION_COUNT; a++) {
            const double ns = a == 0 ? point_of(scale, parts->threads)->frame_ns : parts->frame_ns[a - 1];
            figures[1 + a] = TH_COLUMN(ablation_columns[a], TH_REAL(ns / 1e3, "%.1f"));
        }
        th_sheet_add(&sheet, figures, 2 + TH_ABLATION_COUNT);
    }
    return th_sheet_write(&sheet, format, file);
}

static bool print_shares(const th_scale *scale, th_format format, FILE *file)
{
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t i = 0; i < scale->part_count; i++) {
        const th_scale_parts *parts = &scale->parts[i];
        th_share_text texts[TH_ABLATION_COUNT];
        th_figure figures[1 + TH_ABLATION_COUNT] = {TH_COLUMN(">threads", TH_COUNT(parts->threads))};
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            texts[a] = th_share_text_of(&parts->shares[a]);
            figures[1 + a] = TH_COLUMN(ablation_columns[1 + a], TH_TEXT(texts[a].text));
        }
        th_sheet_add(&sheet, figures, 1 + TH_ABLATION_COUNT);
    }
    return th_sheet_write(&sheet, format, file);
}

static bool print_memory(const th_scale *scale, th_format format, FILE *file)
{
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t i = 0; i < scale->memory_count; i++) {
        const double *bytes_per_s = scale->memory[i].bytes_per_s;
        const th_figure figures[] = {
            TH_COLUMN(">threads", TH_COUNT(scale->memory[i].threads)),
            TH_COLUMN(">write", TH_REAL(bytes_per_s[TH_BANDWIDTH_WRITE] / 1e9, "%.1f")),
            TH_COLUMN(">read", TH_REAL(bytes_per_s[TH_BANDWIDTH_READ] / 1e9, "%.1f")),
            TH_COLUMN(">streaming write", TH_REAL(bytes_per_s[TH_BANDWIDTH_STREAM] / 1e9, "%.1f")),
        };
        th_sheet_add(&sheet, figures, sizeof figures / sizeof *figures);
    }
    return th_sheet_write(&sheet, format, file);
}

/* ---- the map of all curves ---- */

enum { MAP_COLUMNS = 8 };

/* The parameters in which the curves differ. */
typedef struct varied {
    bool scheduler, characters, grain;
} varied;

static varied varied_in(const th_scale *scale)
{
    varied v = {false, false, false};
    const th_scale_curve *a = scale->curves;
    for (uint32_t i = 1; i < scale->curve_count; i++) {
        const th_scale_curve *b = &scale->curves[i];
        v.scheduler = v.scheduler || b->scheduler != a->scheduler;
        v.characters = v.characters || b->characters != a->characters;
        v.grain = v.grain || b->grain != a->grain;
    }
    return v;
}

/* All thread counts of any curve, ascending: the serial scheduler has only one thread. */
typedef struct thread_counts {
    uint32_t values[TH_JOBS_MAX_THREADS], count;
} thread_counts;

static thread_counts thread_counts_of(const th_scale *scale)
{
    bool any[TH_JOBS_MAX_THREADS + 1] = {false};
    thread_counts counts = {.count = 0};
    for (uint32_t i = 0; i < scale->point_count; i++)
        any[scale->points[i].threads] = true;
    for (uint32_t t = 1; t <= TH_JOBS_MAX_THREADS; t++)
        if (any[t])
            counts.values[counts.count++] = t;
    return counts;
}

/* The point of a curve; NULL if it has none with as many threads, or its palettes are wrong. */
static const th_scale_point *good_point(const th_scale *scale, const th_scale_curve *curve, uint32_t threads)
{
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
        if (scale->points[i].threads == threads && !scale->report.rows[i].failure[0])
            return &scale->points[i];
    return NULL;
}

/* Some columns of a row of the map. */
static void add_curve(th_sheet *map, const th_scale *scale, const th_scale_curve *curve, const uint32_t *threads,
                      uint32_t count)
{
    const varied v = varied_in(scale);
    char heads[MAP_COLUMNS][16];
    th_figure figures[3 + MAP_COLUMNS + 1] = {
        TH_COLUMN(v.scheduler ? "<scheduler" : NULL, TH_TEXT(th_scheduler_name(curve->scheduler))),
        TH_COLUMN(!v.characters    ? NULL
                  : scale->is_weak ? ">characters/thread"
                                   : ">characters",
                  TH_DIGITS(curve->characters)),
        TH_COLUMN(v.grain ? ">grain" : NULL, TH_COUNT(curve->grain)),
    };
    for (uint32_t i = 0; i < count; i++) {
        const th_scale_point *p = good_point(scale, curve, threads[i]);
        const double millions = p ? throughput_of(p) / 1e6 : 0;
        snprintf(heads[i], sizeof heads[i], ">%u%s", threads[i],
                 point_of(scale, threads[i])->oversubscribed ? "*" : "");
        figures[3 + i] = TH_COLUMN(heads[i], p ? TH_REAL(millions, "%.2f") : TH_TEXT(""));
    }
    figures[3 + count] = TH_COLUMN("<threads", TH_TEXT(""));
    th_sheet_add(map, figures, 3 + count + 1);
}

static void print_best(const th_scale *scale, varied v, th_format format, FILE *file)
{
    const th_scale_curve *best = NULL;
    const th_scale_point *at = NULL;
    for (uint32_t i = 0; i < scale->curve_count; i++) {
        const th_scale_curve *c = &scale->curves[i];
        for (uint32_t p = c->first; p < c->first + c->count; p++)
            if (!scale->report.rows[p].failure[0] && (!best || throughput_of(&scale->points[p]) > throughput_of(at)))
                best = c, at = &scale->points[p];
    }
    if (!best)
        return;
    line l = {""};
    th_append(l.text, sizeof l.text, "Best: %s characters/s with %u thread%s",
              th_digits_from((uint64_t)throughput_of(at)).text, at->threads, th_plural(at->threads));
    if (v.scheduler)
        th_append(l.text, sizeof l.text, ", scheduler %s", th_scheduler_name(best->scheduler));
    if (v.characters)
        th_append(l.text, sizeof l.text, ", %s character%s%s", th_digits_from(best->characters).text,
                  th_plural(best->characters), scale->is_weak ? " a thread" : "");
    if (v.grain)
        th_append(l.text, sizeof l.text, ", grain %u", best->grain);
    th_write_line(file, format, "%s.", l.text);
}

/* A line above a table. */
static void print_heading(const char *text, th_format format, FILE *file)
{
    th_write_line(file, format, "%s", text);
    th_print_gap(format, file);
}

static bool print_map(const th_scale *scale, th_format format, FILE *file)
{
    const thread_counts threads = thread_counts_of(scale);
    bool printed = true;
    print_heading("Millions of characters a second, by number of threads:", format, file);
    for (uint32_t first = 0; first < threads.count && printed; first += MAP_COLUMNS) {
        const uint32_t left = threads.count - first;
        th_sheet map = th_sheet_table(0);
        for (uint32_t i = 0; i < scale->curve_count; i++)
            add_curve(&map, scale, &scale->curves[i], &threads.values[first], left < MAP_COLUMNS ? left : MAP_COLUMNS);
        printed = th_sheet_write(&map, format, file);
        fputc('\n', file);
    }
    print_best(scale, varied_in(scale), format, file);
    th_print_gap(format, file);
    return printed;
}

/* ---- all of it ---- */

static bool is_oversubscribed(const th_scale *scale)
{
    for (uint32_t i = 0; i < scale->point_count; i++)
        if (scale->points[i].oversubscribed)
            return true;
    return false;
}

static void print_how(const void *result, th_format format, FILE *file)
{
    const th_scale *scale = result;
    const th_scale_curve *curve = &scale->curves[0];
    line l = {""};
    th_append(l.text, sizeof l.text, "%s kernel, %s palettes, %s scheduler, placement %s, chunks of %u x 16 characters",
              th_isa_name(scale->isa), th_palette_name(scale->palette), th_scheduler_name(curve->scheduler),
              th_placement_name(scale->placement), curve->grain);
    if (scale->share_hz > 0)
        th_append(l.text, sizeof l.text, ", poses shared at %g Hz", scale->share_hz);
    if (scale->curve_count > 1)
        th_append(l.text, sizeof l.text, ": the first of %u curves", scale->curve_count);
    th_write_line(file, format, "%s", l.text);
}

/* One line, for scripts that look for a figure of merit. */
static void print_merit(const th_scale *scale, th_format format, FILE *file)
{
    const th_scale_point *p = last_point(scale, &scale->curves[0]);
    const th_row *row = p ? &scale->report.rows[p - scale->points] : NULL;
    if (!p || row->bones == 0)
        return;
    th_write_line(file, format,
                  "Figure of merit: %.4g bones/s on %u thread%s, grind time %.4g ns a bone and thread, efficiency %.1f "
                  "%%, %s scaling.",
                  (double)row->bones / p->frame_ns * 1e9, p->threads, th_plural(p->threads), grind_ns(row, p),
                  100 * p->efficiency, scale->is_weak ? "weak" : "strong");
}

static bool print_first_curve(const th_scale *scale, th_format format, FILE *file)
{
    char memory[96];
    th_print_gap(format, file);
    th_sheet points = with_points(th_sheet_table(TABLE), scale, &scale->curves[0]);
    bool printed = th_sheet_write(&points, format, file);
    fputc('\n', file);
    if (is_oversubscribed(scale))
        th_write_line(file, format,
                      "* more threads than usable CPUs: not part of the fits and the bottleneck analysis");
    th_write_line(file, format, "%s", scale->bottleneck.text);
    print_merit(scale, format, file);
    print_fits(&scale->curves[0], scale->is_weak, scale->parts[scale->part_count - 1].threads, format, file);
    th_print_gap(format, file);
    th_write_line(file, format,
                  "POP factors: parallel efficiency is load balance x serialisation x transfer; computation scaling is "
                  "instructions x IPC x frequency%s:",
                  format == TH_FORMAT_TEXT ? " (--out FILE.md has their 95 % CI)" : ", with 95 % CI");
    th_print_gap(format, file);
    printed = printed && print_factors(scale, &scale->curves[0], format, file);
    printed = printed && th_counter_table_print(&scale->report, format, file);
    fputc('\n', file);
    print_heading("Ablations, us per frame:", format, file);
    printed = printed && print_parts(scale, format, file);
    fputc('\n', file);
    print_heading("The same as shares of the whole frame, with 95 % CI:", format, file);
    printed = printed && print_shares(scale, format, file);
    fputc('\n', file);
    snprintf(memory, sizeof memory,
             "Memory bandwidth, GB/s, in a block of %s MB:", th_digits_from(scale->memory_bytes / 1000000).text);
    print_heading(memory, format, file);
    printed = printed && print_memory(scale, format, file);
    fputc('\n', file);
    return printed;
}

static void print_sharing(const th_scale *scale, th_format format, FILE *file)
{
    if (scale->share_hz > 0)
        th_write_line(file, format,
                      "Evaluated: poses of a frame; all figures of characters and bones are of these. Shared: "
                      "characters beyond that, who show the pose of another. Share error: the farthest that sharing "
                      "moves a bone, in scene units.");
}

/* What the figures are, and what their intervals hold for. */
static void print_notes(const th_report *report, th_format format, FILE *file)
{
    const uint32_t repetitions = report->rows[0].real_ns.count, processes = report->process_count;
    line l = {""};
    if (processes > 1)
        th_append(l.text, sizeof l.text,
                  "Means over %u processes of medians of %u repetitions together, in random order; intervals are "
                  "Student's over the processes.",
                  processes, repetitions);
    else
        th_append(l.text, sizeof l.text,
                  "Medians of %u repetition%s in random order, of one process: another one may differ by more than the "
                  "intervals say (--processes 12 measures that).",
                  repetitions, th_plural(repetitions));
    th_write_line(file, format, "%s %s%.0f %% CI: half-width, relative to the median. [low, high]: %s.%s", l.text,
                  format == TH_FORMAT_TEXT ? "" : "MAD: median absolute deviation, relative to the median. ",
                  100 * TH_CONFIDENCE,
                  processes > 1 ? "at the same confidence" : "at the same confidence, from resampled rounds",
                  format == TH_FORMAT_TEXT ? " --out FILE.md has more columns." : "");
}

static bool print_figures(const void *result, th_format format, FILE *file)
{
    const th_scale *scale = result;
    bool printed = print_first_curve(scale, format, file);
    if (scale->curve_count > 1)
        printed = printed && print_map(scale, format, file);
    print_sharing(scale, format, file);
    print_notes(&scale->report, format, file);
    return printed;
}

const th_tables th_scale_tables = {print_how, print_figures};

bool th_scale_print(const th_scale *scale, th_format format, FILE *file)
{
    assert(scale && file);
    return th_tables_print(&th_scale_tables, &scale->report, scale, format, file);
}
