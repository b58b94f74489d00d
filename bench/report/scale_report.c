/* A scaling experiment as JSON and text. */
#include "figures.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- points ---- */

/* Views of a point: the table, JSON in its curve, JSON in the rows of its entry. */
enum { TABLE = 1, CURVE = 2, ROW = 4, JSON = CURVE | ROW };

/* Characters a second. */
static double throughput_of(const th_scale_point *p)
{
    return p->characters / p->frame_ns * 1e9;
}

static double bones_per_s(const th_row *row, const th_scale_point *p)
{
    return (double)row->bones / p->frame_ns * 1e9;
}

/* Time a bone and thread. */
static double grind_ns(const th_row *row, const th_scale_point *p)
{
    return p->frame_ns * p->threads / (double)row->bones;
}

static const char *factor_name(uint32_t factor)
{
    return th_pop_factor_name((th_pop_factor)factor);
}

static const char *counter_name(uint32_t counter)
{
    return th_counter_name((th_counter)counter);
}

/* Without what cannot be: an efficiency far above 1, and what says the same. */
static th_scale_point shown_of(const th_scale_point *p)
{
    th_scale_point shown = *p;
    if (!(p->efficiency > TH_REPORT_MAX_EFFICIENCY))
        return shown;
    shown.speed_up = shown.efficiency = shown.karp_flatt = (double)NAN;
    shown.efficiency_interval = (th_interval){(double)NAN, (double)NAN};
    for (int f = 0; f < TH_POP_COUNT; f++)
        if (shown.pop.values[f] > TH_REPORT_MAX_EFFICIENCY) {
            shown.pop.values[f] = (double)NAN;
            shown.pop.intervals[f] = shown.efficiency_interval;
        }
    return shown;
}

void th_scale_figures_of(const th_scale *scale, const th_scale_curve *curve, uint32_t index, th_scale_point *p,
                         bool is_table, th_scale_figures *out)
{
    th_scale_point *const s = &out->shown;
    *s = shown_of(p);
    const th_row *row = &scale->report.rows[index];
    const double half_width = is_table ? th_row_ci_half_width(row) : (double)NAN;
    const th_estimate efficiency = {s->efficiency, s->efficiency_interval.low, s->efficiency_interval.high};
    const unsigned shared = scale->share_hz > 0 ? TABLE | JSON : 0;
    snprintf(out->palette_sum, sizeof out->palette_sum, "%016" PRIx64 "%016" PRIx64, p->palette_sum.high,
             p->palette_sum.low);
    snprintf(out->threads, sizeof out->threads, "%u%s", p->threads, p->oversubscribed ? "*" : "");
    const th_figure figures[] = {
        {"name", NULL, TH_TEXT(row->name), CURVE},
        {"threads", NULL, TH_COUNT(p->threads), CURVE},
        {NULL, ">threads", TH_TEXT(out->threads), TABLE},
        {"characters", NULL, TH_COUNT(p->characters), CURVE},
        {NULL, scale->is_weak && !shared ? ">characters" : NULL, TH_DIGITS(p->characters), TABLE},
        {"evaluated", ">evaluated", TH_DIGITS(p->characters), shared},
        {"shared", ">shared", TH_DIGITS(p->shared), shared},
        {"share_error", ">+share error", TH_REAL(p->share_error, "%.3g"), shared},
        {"scheduler", NULL, TH_TEXT(th_scheduler_name(curve->scheduler)), ROW},
        {"grain", NULL, TH_COUNT(curve->grain), ROW},
        {"oversubscribed", NULL, TH_FLAG(p->oversubscribed), JSON},
        {NULL, ">ms/frame", th_mean(TH_REAL(p->frame_ns / 1e6, "%.3f"), &p->frame_ns, NULL), TABLE},
        {"characters_per_s", NULL, TH_NUMBER(throughput_of(p)), JSON},
        {NULL, ">characters/s", TH_DIGITS(throughput_of(p)), TABLE},
        {"speed_up", ">speed-up", th_mean(TH_REAL(s->speed_up, "%.2f"), &p->speed_up, NULL), TABLE | JSON},
        {"efficiency", NULL, th_mean(TH_NUMBER(s->efficiency), &p->efficiency, &p->efficiency_interval), JSON},
        {"efficiency_interval", NULL, TH_INTERVAL(&s->efficiency_interval), CURVE},
        {NULL, ">efficiency", index == curve->first && p->efficiency >= 1 ? TH_TEXT("100 %") : TH_ESTIMATE(efficiency),
         TABLE},
        {"bones_per_s", NULL, TH_NUMBER(bones_per_s(row, p)), ROW},
        {"grind_ns", ">+grind ns", TH_REAL(grind_ns(row, p), "%.2f"), TABLE | ROW},
        {"karp_flatt", NULL, th_mean(TH_NUMBER(s->karp_flatt), &p->karp_flatt, NULL), JSON},
        {NULL, ">+Karp-Flatt", isnan(s->karp_flatt) ? TH_TEXT("") : TH_SHARE(s->karp_flatt, "%.1f %%"), TABLE},
        {"busy", ">busy", th_mean(TH_SHARE(p->busy, "%.0f %%"), &p->busy, NULL), TABLE | ROW},
        {"idle_at_end", ">idle at end", th_mean(TH_SHARE(p->idle_at_end, "%.1f %%"), &p->idle_at_end, NULL),
         TABLE | ROW},
        {"serial", NULL, th_mean(TH_NUMBER(p->serial), &p->serial, NULL), ROW},
        {"imbalance", ">+imbalance", th_mean(TH_SHARE(p->imbalance, "%.1f %%"), &p->imbalance, NULL), TABLE | ROW},
        {"work_us_per_frame", NULL, th_mean(TH_NUMBER_PER(p->work_ns, 1e3), &p->work_ns, NULL), ROW},
        {"pop", NULL, th_mean(TH_REALS(factor_name, s->pop.values, TH_POP_COUNT), p->pop.values, p->pop.intervals),
         JSON},
        {"pop_intervals", NULL, TH_INTERVALS(factor_name, s->pop.intervals, TH_POP_COUNT), CURVE},
        {"counters", NULL,
         TH_IF_GIVEN(scale->has_counters,
                     th_mean(TH_REALS(counter_name, p->counters.values, TH_COUNTER_COUNT), p->counters.values, NULL)),
         JSON},
        {"palette_sum", NULL, TH_TEXT(out->palette_sum), JSON},
        {NULL, ">+MAD", th_mean(TH_SHARE(p->relative_mad, "%.1f %%"), &p->relative_mad, NULL), TABLE},
        {NULL, ">95 % CI", TH_SHARE(half_width, "+-%.1f %%"), TABLE},
        {NULL, "<+palette hash", TH_HASH(row->palette_hash), TABLE},
    };
    _Static_assert(sizeof figures <= sizeof out->all, "room for all figures");
    out->count = sizeof figures / sizeof *figures;
    memcpy(out->all, figures, sizeof figures);
}

static void add_point(th_sheet *sheet, const th_scale *scale, const th_scale_curve *curve, uint32_t index)
{
    th_scale_figures figures;
    th_scale_figures_of(scale, curve, index, &scale->points[index], sheet->is_table, &figures);
    th_sheet_add(sheet, figures.all, figures.count);
}

/* The points of a curve whose palettes were right. */
static th_sheet with_points(th_sheet sheet, const th_scale *scale, const th_scale_curve *curve)
{
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
        if (!scale->report.rows[i].failure[0])
            add_point(&sheet, scale, curve, i);
    return sheet;
}

json_t *th_scale_own_json(const th_scale *scale, const th_scale_curve *curve, uint32_t point)
{
    th_sheet sheet = th_sheet_json(ROW);
    add_point(&sheet, scale, curve, point);
    return th_sheet_object(&sheet);
}

/* ---- ablations and memory ---- */

static const th_scale_point *point_of(const th_scale *scale, uint32_t threads)
{
    const th_scale_point *p = scale->points;
    while (p->threads != threads)
        p++;
    return p;
}

/* Views of ablations: the table of times, that of their shares of the whole frame, JSON. */
enum { TIMES = 1, SHARES = 2, ABLATION = 4 };

static th_sheet with_parts(th_sheet sheet, const th_scale *scale)
{
    static const char *const columns[TH_ABLATION_COUNT] = {">no palette write", ">no hierarchy", ">sampling only",
                                                           ">write only", ">empty chunks"};
    const th_estimate unknown = {(double)NAN, (double)NAN, (double)NAN};
    for (uint32_t i = 0; i < scale->part_count; i++) {
        const th_scale_parts *parts = &scale->parts[i];
        json_t *objects[TH_ABLATION_COUNT];
        th_figure figures[2 + 3 * TH_ABLATION_COUNT], *next = figures;
        *next++ = (th_figure){"threads", ">threads", TH_COUNT(parts->threads), TIMES | SHARES | ABLATION};
        const double whole_ns = point_of(scale, parts->threads)->frame_ns;
        *next++ = (th_figure){NULL, ">whole frame", TH_REAL(whole_ns / 1e3, "%.1f"), TIMES};
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            const th_estimate *whole = &parts->shares[a]; /* no part takes longer than it */
            const th_estimate share = whole->low > TH_REPORT_MAX_EFFICIENCY ? unknown : *whole;
            const th_figure fields[] = {
                TH_FIELD("us_per_frame", TH_NUMBER_PER(parts->frame_ns[a], 1e3)),
                TH_FIELD("work_us_per_frame", TH_NUMBER_PER(parts->work_ns[a], 1e3)),
                TH_FIELD("share", TH_ESTIMATE(share)),
            };
            objects[a] = th_figures_json(fields, sizeof fields / sizeof *fields);
            *next++ = (th_figure){th_ablation_name((th_ablation)a), NULL, TH_JSON(objects[a]), ABLATION};
            *next++ = (th_figure){NULL, columns[a], TH_REAL(parts->frame_ns[a] / 1e3, "%.1f"), TIMES};
            *next++ = (th_figure){NULL, columns[a], TH_ESTIMATE(share), SHARES};
        }
        th_sheet_add(&sheet, figures, sizeof figures / sizeof *figures);
        for (int a = 0; a < TH_ABLATION_COUNT; a++)
            json_decref(objects[a]);
    }
    return sheet;
}

static th_sheet with_memory(th_sheet sheet, const th_scale *scale)
{
    static const char *const columns[TH_BANDWIDTH_COUNT] = {">write", ">read", ">streaming write"};
    for (uint32_t i = 0; i < scale->memory_count; i++) {
        const th_scale_memory *memory = &scale->memory[i];
        th_figure figures[1 + TH_BANDWIDTH_COUNT] = {TH_FIGURE("threads", ">threads", TH_COUNT(memory->threads))};
        for (int k = 0; k < TH_BANDWIDTH_COUNT; k++)
            figures[1 + k] = TH_FIGURE(th_bandwidth_kind_name((th_bandwidth_kind)k), columns[k],
                                       TH_SCALED(memory->bytes_per_s[k], 1e9, "%.1f"));
        th_sheet_add(&sheet, figures, sizeof figures / sizeof *figures);
    }
    return sheet;
}

/* ---- JSON ---- */

static json_t *curve_json(const th_scale *scale, const th_scale_curve *curve)
{
    json_t *fits = json_object();
    for (int law = 0; law < TH_FIT_LAW_COUNT; law++) {
        const th_fit *f = &curve->fits[law];
        const th_figure figures[] = {
            TH_FIELD("status", TH_TEXT(th_fit_status_name(f->status))),
            TH_FIELD("points", TH_COUNT(f->point_count)),
            TH_FIELD("gamma", TH_ESTIMATE(f->gamma)),
            TH_FIELD("sigma", TH_ESTIMATE(f->sigma)),
            TH_FIELD("kappa", TH_ESTIMATE(f->kappa)),
            TH_FIELD("peak_threads", TH_ESTIMATE(f->peak_threads)),
            TH_FIELD("peak_characters_per_s", TH_ESTIMATE(f->peak_throughput)),
            TH_FIELD("rms", TH_NUMBER(f->rms)),
            TH_FIELD("r_squared", TH_NUMBER(f->r_squared)),
        };
        fits = th_json_set(fits, th_fit_law_name((th_fit_law)law),
                           th_figures_json(figures, sizeof figures / sizeof *figures));
    }
    return json_pack("{s:s, s:i, s:i, s:o, s:o}", "scheduler", th_scheduler_name(curve->scheduler), "characters",
                     (int)curve->characters, "grain", (int)curve->grain, "points",
                     with_points(th_sheet_json(CURVE), scale, curve).objects, "fits", fits);
}

enum { LOSS_COUNT = TH_BOTTLENECK_SERIAL - TH_BOTTLENECK_MEMORY + 1 };

static const char *loss_name(uint32_t loss)
{
    return th_bottleneck_kind_name((th_bottleneck_kind)(TH_BOTTLENECK_MEMORY + loss));
}

static json_t *bottleneck_json(const th_bottleneck *b)
{
    const th_estimate unknown = {(double)NAN, (double)NAN, (double)NAN},
                      lost_share = b->is_impossible ? unknown : b->lost;
    double losses[LOSS_COUNT];
    th_interval intervals[LOSS_COUNT];
    for (int l = 0; l < LOSS_COUNT; l++) {
        const th_estimate *loss = &b->losses[TH_BOTTLENECK_MEMORY + l];
        losses[l] = loss->value;
        intervals[l] = (th_interval){loss->low, loss->high};
    }
    const th_interval lost = {lost_share.low, lost_share.high};
    const th_figure figures[] = {
        TH_FIELD("kind", TH_TEXT(th_bottleneck_kind_name(b->kind))),
        TH_FIELD("factor", TH_TEXT(b->factor == TH_POP_GLOBAL ? NULL : th_pop_factor_name(b->factor))),
        TH_FIELD("impossible", TH_FLAG(b->is_impossible)),
        TH_FIELD("speed_up", TH_ESTIMATE(b->is_impossible ? unknown : b->speed_up)),
        TH_FIELD("efficiency", TH_ESTIMATE(b->is_impossible ? unknown : b->efficiency)),
        TH_FIELD("lost", TH_NUMBER(lost_share.value)),
        TH_FIELD("lost_interval", TH_INTERVAL(&lost)),
        TH_FIELD("losses", TH_REALS(loss_name, losses, LOSS_COUNT)),
        TH_FIELD("losses_intervals", TH_INTERVALS(loss_name, intervals, LOSS_COUNT)),
        TH_FIELD("text", TH_TEXT(b->text)),
    };
    return th_figures_json(figures, sizeof figures / sizeof *figures);
}

json_t *th_scale_json(const th_scale *scale)
{
    assert(scale);
    if (scale->report.is_dry_run)
        return th_report_json(&scale->report);
    json_t *curves = json_array();
    for (uint32_t i = 0; i < scale->curve_count; i++)
        curves = th_json_append(curves, curve_json(scale, &scale->curves[i]));
    json_t *scaling = json_pack("{s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "weak", scale->is_weak, "interval_unit",
                                scale->report.process_count > 1 ? "process" : "round", "curves", curves, "ablation",
                                with_parts(th_sheet_json(ABLATION), scale).objects, "palette_bytes",
                                th_json_count(scale->palette_bytes), "memory_bytes_per_s",
                                with_memory(th_sheet_json(0), scale).objects, "memory_block_bytes",
                                th_json_count(scale->memory_bytes), "bottleneck", bottleneck_json(&scale->bottleneck));
    return th_json_set(th_report_json(&scale->report), "scaling", scaling);
}

/* ---- text ---- */

/* Lines of a terminal are too short for the intervals. */
static bool print_factors(const th_scale *scale, const th_scale_curve *curve, th_output_format format, FILE *file)
{
    static const char *const heads[TH_POP_COUNT] = {
        ">global",       ">parallel",      ">load balance", ">+communication", ">serialisation", ">transfer",
        ">+computation", ">+instructions", ">IPC",          ">frequency",
    };
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_pop shown = shown_of(&scale->points[i]).pop, *pop = &shown;
        th_figure figures[1 + TH_POP_COUNT] = {TH_COLUMN(">threads", TH_COUNT(scale->points[i].threads))};
        for (int f = 0; f < TH_POP_COUNT; f++) {
            const th_estimate factor = {pop->values[f], pop->intervals[f].low, pop->intervals[f].high};
            figures[1 + f] =
                TH_COLUMN(heads[f], format == TH_OUTPUT_TEXT ? TH_SHARE(factor.value, "%.1f %%") : TH_ESTIMATE(factor));
        }
        if (!scale->report.rows[i].failure[0])
            th_sheet_add(&sheet, figures, 1 + TH_POP_COUNT);
    }
    return th_sheet_write(&sheet, format, file);
}

static void add_estimate(char *line, size_t size, const char *name, const th_estimate *e)
{
    th_append(line, size, ", %s %.3g", name, e->value);
    if (isfinite(e->low) && isfinite(e->high))
        th_append(line, size, " (%.3g to %.3g)", e->low, e->high);
}

/* measured: the most threads in the fits. */
static void print_fits(const th_scale_curve *curve, bool is_weak, uint32_t measured, th_output_format format,
                       FILE *file)
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
        char line[512] = "";
        const size_t size = sizeof line;
        th_append(line, size, "%s: residual %.1f %%", names[law], 100 * f->rms);
        if (isfinite(f->r_squared))
            th_append(line, size, ", R^2 %.4f", f->r_squared);
        add_estimate(line, size, "sigma", &f->sigma);
        if (law == TH_FIT_USL)
            add_estimate(line, size, "kappa", &f->kappa);

        const th_estimate *peak = &f->peak_threads;
        const bool is_finite = isfinite(f->peak_throughput.value);
        const th_digits most = th_digits_from(is_finite ? (uint64_t)f->peak_throughput.value : 0);
        if (isinf(peak->value)) {
            th_append(line, size, "; no peak");
            if (is_finite)
                th_append(line, size, ", but no more than %s characters/s", most.text);
        } else {
            th_append(line, size, "; peak of %s characters/s at %.0f threads", most.text, peak->value);
            if (isfinite(peak->low) && isfinite(peak->high))
                th_append(line, size, " (%.0f to %.0f)", peak->low, peak->high);
            else if (isfinite(peak->low))
                th_append(line, size, " (%.0f to any number)", peak->low);
            if (peak->value > 2 * measured)
                th_append(line, size, ", far beyond the measured range");
        }
        th_write_line(file, format, "%s.", line);
    }
}

/* A line above a table. */
static void print_heading(const char *text, th_output_format format, FILE *file)
{
    th_write_line(file, format, "%s", text);
    th_print_gap(format, file);
}

static bool print_first_curve(const th_scale *scale, th_output_format format, FILE *file)
{
    const th_scale_curve *curve = &scale->curves[0];
    const th_scale_point *last = NULL; /* measured, with most threads; of those that are not oversubscribed, if any */
    bool is_oversubscribed = false;
    for (uint32_t i = 0; i < scale->point_count; i++)
        is_oversubscribed = is_oversubscribed || scale->points[i].oversubscribed;
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
        if (!scale->report.rows[i].failure[0] && scale->points[i].frame_ns > 0 &&
            (!last || !scale->points[i].oversubscribed))
            last = &scale->points[i];
    const th_row *row = last ? &scale->report.rows[last - scale->points] : NULL;

    char efficiency[32] = "left out";
    if (last && last->efficiency <= TH_REPORT_MAX_EFFICIENCY)
        snprintf(efficiency, sizeof efficiency, "%.1f %%", 100 * last->efficiency);
    th_print_gap(format, file);
    th_sheet points = with_points(th_sheet_table(TABLE), scale, curve);
    bool printed = th_sheet_write(&points, format, file);
    fputc('\n', file);
    if (is_oversubscribed)
        th_write_line(file, format,
                      "* more threads than usable CPUs: not part of the fits and the bottleneck analysis");
    th_write_line(file, format, "%s", scale->bottleneck.text);
    if (row && row->bones > 0) /* one line, for scripts that look for a figure of merit */
        th_write_line(file, format,
                      "Figure of merit: %.4g bones/s on %u thread%s, grind time %.4g ns a bone and thread, efficiency "
                      "%s, %s scaling.",
                      bones_per_s(row, last), last->threads, th_plural(last->threads), grind_ns(row, last), efficiency,
                      scale->is_weak ? "weak" : "strong");
    print_fits(curve, scale->is_weak, scale->parts[scale->part_count - 1].threads, format, file);
    th_print_gap(format, file);
    th_write_line(file, format,
                  "POP factors: parallel efficiency is load balance x serialisation x transfer; computation scaling is "
                  "instructions x IPC x frequency%s:",
                  format == TH_OUTPUT_TEXT ? " (--out FILE.md has their 95 % CI)" : ", with 95 % CI");
    th_print_gap(format, file);
    printed = printed && print_factors(scale, curve, format, file);
    printed = printed && th_report_print_counters(&scale->report, format, file);
    fputc('\n', file);

    print_heading("Ablations, us per frame:", format, file);
    th_sheet times = with_parts(th_sheet_table(TIMES), scale);
    printed = th_sheet_write(&times, format, file) && printed;
    fputc('\n', file);
    print_heading("The same as shares of the whole frame, with 95 % CI:", format, file);
    th_sheet shares = with_parts(th_sheet_table(SHARES), scale);
    printed = th_sheet_write(&shares, format, file) && printed;
    fputc('\n', file);
    char heading[96];
    snprintf(heading, sizeof heading,
             "Memory bandwidth, GB/s, in a block of %s MB:", th_digits_from(scale->memory_bytes / 1000000).text);
    print_heading(heading, format, file);
    th_sheet memory = with_memory(th_sheet_table(0), scale);
    printed = th_sheet_write(&memory, format, file) && printed;
    fputc('\n', file);
    return printed;
}

/* All curves beside each other, and the best of all points. */
static bool print_map(const th_scale *scale, th_output_format format, FILE *file)
{
    enum { MAP_COLUMNS = 8 };
    bool varies_scheduler = false, varies_characters = false, varies_grain = false, printed = true;
    for (uint32_t c = 1; c < scale->curve_count; c++) {
        const th_scale_curve *a = scale->curves, *b = &scale->curves[c];
        varies_scheduler = varies_scheduler || b->scheduler != a->scheduler;
        varies_characters = varies_characters || b->characters != a->characters;
        varies_grain = varies_grain || b->grain != a->grain;
    }

    /* All thread counts of any curve, ascending: the serial scheduler has only one thread. */
    bool any[TH_JOBS_MAX_THREADS + 1] = {false};
    uint32_t threads[TH_JOBS_MAX_THREADS], thread_count = 0;
    for (uint32_t i = 0; i < scale->point_count; i++)
        any[scale->points[i].threads] = true;
    for (uint32_t t = 1; t <= TH_JOBS_MAX_THREADS; t++)
        if (any[t])
            threads[thread_count++] = t;

    print_heading("Millions of characters a second, by number of threads:", format, file);
    for (uint32_t first = 0; first < thread_count && printed; first += MAP_COLUMNS) {
        const uint32_t left = thread_count - first, count = left < MAP_COLUMNS ? left : MAP_COLUMNS;
        th_sheet map = th_sheet_table(0);
        for (uint32_t c = 0; c < scale->curve_count; c++) {
            const th_scale_curve *curve = &scale->curves[c];
            char heads[MAP_COLUMNS][16];
            th_figure figures[3 + MAP_COLUMNS + 1] = {
                TH_COLUMN(varies_scheduler ? "<scheduler" : NULL, TH_TEXT(th_scheduler_name(curve->scheduler))),
                TH_COLUMN(!varies_characters ? NULL
                          : scale->is_weak   ? ">characters/thread"
                                             : ">characters",
                          TH_DIGITS(curve->characters)),
                TH_COLUMN(varies_grain ? ">grain" : NULL, TH_COUNT(curve->grain)),
            };
            for (uint32_t t = 0; t < count; t++) {
                const uint32_t n = threads[first + t];
                th_value millions = TH_TEXT(""); /* where the curve has no such point, or its palettes are wrong */
                for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
                    if (scale->points[i].threads == n && !scale->report.rows[i].failure[0])
                        millions = TH_REAL(throughput_of(&scale->points[i]) / 1e6, "%.2f");
                snprintf(heads[t], sizeof heads[t], ">%u%s", n, point_of(scale, n)->oversubscribed ? "*" : "");
                figures[3 + t] = TH_COLUMN(heads[t], millions);
            }
            figures[3 + count] = TH_COLUMN("<threads", TH_TEXT(""));
            th_sheet_add(&map, figures, 3 + count + 1);
        }
        printed = th_sheet_write(&map, format, file);
        fputc('\n', file);
    }

    const th_scale_curve *best = NULL;
    const th_scale_point *at = NULL;
    for (const th_scale_curve *c = scale->curves; c < scale->curves + scale->curve_count; c++)
        for (uint32_t p = c->first; p < c->first + c->count; p++)
            if (!scale->report.rows[p].failure[0] && (!best || throughput_of(&scale->points[p]) > throughput_of(at)))
                best = c, at = &scale->points[p];
    if (best) {
        char line[512] = "";
        th_append(line, sizeof line, "Best: %s characters/s with %u thread%s",
                  th_digits_from((uint64_t)throughput_of(at)).text, at->threads, th_plural(at->threads));
        if (varies_scheduler)
            th_append(line, sizeof line, ", scheduler %s", th_scheduler_name(best->scheduler));
        if (varies_characters)
            th_append(line, sizeof line, ", %s character%s%s", th_digits_from(best->characters).text,
                      th_plural(best->characters), scale->is_weak ? " a thread" : "");
        if (varies_grain)
            th_append(line, sizeof line, ", grain %u", best->grain);
        th_write_line(file, format, "%s.", line);
    }
    th_print_gap(format, file);
    return printed;
}

/* What the figures are, and what their intervals hold for. */
static void print_notes(const th_scale *scale, th_output_format format, FILE *file)
{
    const uint32_t repetitions = scale->report.rows[0].real_ns.count, processes = scale->report.process_count;
    char line[512] = "";
    if (scale->share_hz > 0)
        th_write_line(file, format,
                      "Evaluated: poses of a frame; all figures of characters and bones are of these. Shared: "
                      "characters beyond that, who show the pose of another. Share error: the farthest that sharing "
                      "moves a bone, in scene units.");
    if (processes > 1)
        th_append(line, sizeof line,
                  "Means over %u processes of medians of %u repetitions together, in random order; intervals are "
                  "Student's over the processes.",
                  processes, repetitions);
    else
        th_append(line, sizeof line,
                  "Medians of %u repetition%s in random order, of one process: another one may differ by more than the "
                  "intervals say (--processes 12 measures that).",
                  repetitions, th_plural(repetitions));
    th_write_line(file, format, "%s %s%.0f %% CI: half-width, relative to the median. [low, high]: %s.%s", line,
                  format == TH_OUTPUT_TEXT ? "" : "MAD: median absolute deviation, relative to the median. ",
                  100 * TH_CONFIDENCE,
                  processes > 1 ? "at the same confidence" : "at the same confidence, from resampled rounds",
                  format == TH_OUTPUT_TEXT ? " --out FILE.md has more columns." : "");
}

bool th_scale_print(const th_scale *scale, th_output_format format, FILE *file)
{
    assert(scale && file);
    const th_scale_curve *curve = &scale->curves[0];
    char how[512] = "";
    th_append(how, sizeof how, "%s kernel, %s palettes, %s scheduler, placement %s, chunks of %u x 16 characters",
              th_isa_name(scale->isa), th_format_name(scale->palette), th_scheduler_name(curve->scheduler),
              th_placement_name(scale->placement), curve->grain);
    if (scale->share_hz > 0)
        th_append(how, sizeof how, ", poses shared at %g Hz", scale->share_hz);
    if (scale->curve_count > 1)
        th_append(how, sizeof how, ": the first of %u curves", scale->curve_count);
    th_report_print_conditions(&scale->report, format, file);
    th_write_line(file, format, "%s", how);

    bool printed;
    if (scale->report.is_dry_run)
        printed = th_report_print_dry_run(&scale->report, format, file);
    else {
        printed = print_first_curve(scale, format, file);
        if (scale->curve_count > 1)
            printed = printed && print_map(scale, format, file);
        print_notes(scale, format, file);
    }
    th_report_print_warnings(&scale->report, format, file);
    return printed;
}
