#include "row_interval.h"
#include "scale_plots.h"

#include <throng/core/text_format.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* Points to draw a fitted curve with. */
enum { CURVE_POINTS = 64 };

static const char *const law_names[TH_FIT_LAW_COUNT] = {"Amdahl's law", "Universal Scalability Law"};
static const th_ink law_inks[TH_FIT_LAW_COUNT] = {TH_INK_VERMILION, TH_INK_GREEN};

bool th_scale_has_figures(const th_scale *scale, uint32_t point)
{
    assert(point < scale->point_count);
    return !scale->report.rows[point].failure[0] && scale->points[point].frame_ns > 0;
}

double th_scale_throughput(const th_scale_point *p)
{
    return p->characters / p->frame_ns * 1e9;
}

const th_scale_point *th_scale_last(const th_scale *scale, const th_scale_curve *curve)
{
    const th_scale_point *last = NULL;
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
        if (th_scale_has_figures(scale, i) && (!last || !scale->points[i].oversubscribed))
            last = &scale->points[i];
    return last;
}

/* ---- the first curve ---- */

/* The speed-up over the first point, 95 % CI. */
static th_interval speed_up_interval(const th_scale *scale, const th_scale_curve *curve, uint32_t point)
{
    const th_scale_point *p = &scale->points[point];
    const double ratio = (double)p->threads / scale->points[curve->first].threads;
    return (th_interval){ratio * p->efficiency_interval.low, ratio * p->efficiency_interval.high};
}

/* The end of the threads axis: all measured ones, and a fitted peak that is not far beyond. */
static double most_threads(const th_scale *scale, const th_scale_curve *curve)
{
    const double measured = scale->points[curve->first + curve->count - 1].threads;
    const double peak = curve->fits[TH_FIT_USL].peak_threads.value;
    return peak > measured && peak <= 2 * measured ? peak : measured;
}

/* Logarithmic for many threads: equal ratios then have equal distances. */
static th_axis threads_axis(const th_scale *scale, const th_scale_curve *curve)
{
    const double least = scale->points[curve->first].threads, most = most_threads(scale, curve);
    th_axis axis = most / least > 16 ? th_axis_log() : th_axis_linear();
    axis.least_step = 1;
    th_axis_include(&axis, axis.is_log ? least : 0);
    th_axis_include(&axis, most);
    return axis;
}

/* divided: return the efficiency in percent, speed_up / ratio of threads. */
static double shown(double speed_up, double ratio, bool divided)
{
    return divided ? 100 * speed_up / ratio : speed_up;
}

/* fit: NULL: draws the ideal. */
static void draw_law(th_plot *plot, const th_scale *scale, const th_scale_curve *curve, const th_fit *fit, bool divided)
{
    const th_scale_point *first = &scale->points[curve->first];
    const double base = th_scale_throughput(first), most = most_threads(scale, curve);
    double x[CURVE_POINTS], y[CURVE_POINTS];
    for (int i = 0; i < CURVE_POINTS; i++) {
        x[i] = first->threads * pow(most / first->threads, (double)i / (CURVE_POINTS - 1));
        const double ratio = x[i] / first->threads;
        y[i] = shown(fit ? th_fit_at(fit, x[i]) / base : ratio, ratio, divided);
    }
    th_plot_line(plot, fit ? law_inks[fit->law] : TH_INK_GREY, true, x, y, CURVE_POINTS);
}

static void draw_points(th_plot *plot, const th_scale *scale, const th_scale_curve *curve, bool divided)
{
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_scale_point *p = &scale->points[i];
        if (!th_scale_has_figures(scale, i))
            continue;
        const double ratio = (double)p->threads / scale->points[curve->first].threads;
        const th_interval interval = speed_up_interval(scale, curve, i);
        th_plot_interval_y(plot, TH_INK_BLUE, p->threads,
                           (th_interval){shown(interval.low, ratio, divided), shown(interval.high, ratio, divided)});
        th_plot_point(plot, TH_INK_BLUE, p->oversubscribed, p->threads, shown(p->speed_up, ratio, divided),
                      "%u thread%s: %.2f times as fast (%.2f to %.2f), %.1f %% efficiency, %.3f ms a frame%s",
                      p->threads, th_plural(p->threads), p->speed_up, interval.low, interval.high, 100 * p->efficiency,
                      p->frame_ns / 1e6, p->oversubscribed ? "; more threads than CPUs" : "");
    }
}

static void draw_curve(const th_scale *scale, bool divided, FILE *file)
{
    const th_scale_curve *curve = &scale->curves[0];
    const bool fitted = curve->fits[0].status == TH_FIT_GOOD && th_scale_has_figures(scale, curve->first);
    const th_key keys[] = {{"measured", TH_INK_BLUE, false},
                           {"ideal", TH_INK_GREY, true},
                           {law_names[TH_FIT_AMDAHL], law_inks[TH_FIT_AMDAHL], true},
                           {law_names[TH_FIT_USL], law_inks[TH_FIT_USL], true}};
    th_plot_desc desc = {
        .title = divided ? "Efficiency" : "Speed-up",
        .note = divided ? "Speed-up over the ratio of threads; what is missing to 100 % is lost."
                        : "Bars: 95 % confidence. Hollow: more threads than CPUs.",
        .x_title = "threads",
        .y_title = divided ? "percent of the ideal" : "times as fast",
        .x = threads_axis(scale, curve),
        .keys = keys,
        .key_count = fitted ? 4 : 2,
    };
    const double peak = curve->fits[TH_FIT_USL].peak_threads.value;
    const double most = most_threads(scale, curve) / scale->points[curve->first].threads;
    if (desc.x.is_log && !divided) /* the ideal becomes a straight line */
        desc.y = th_axis_log();
    th_axis_include(&desc.y, shown(most, most, divided));
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        draw_law(&plot, scale, curve, NULL, divided);
        for (int law = 0; fitted && law < TH_FIT_LAW_COUNT; law++)
            draw_law(&plot, scale, curve, &curve->fits[law], divided);
        if (fitted && isfinite(peak))
            th_plot_rule_x(&plot, peak, "peak");
        draw_points(&plot, scale, curve, divided);
    }
}

/* ---- all curves ---- */

static void draw_throughput(th_plot *plot, const th_scale *scale, const th_scale_curve *curve, th_ink ink)
{
    double last_x = (double)NAN, last_y = (double)NAN;
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_scale_point *p = &scale->points[i];
        if (!th_scale_has_figures(scale, i))
            continue;
        const th_interval ns = th_row_interval(&scale->report.rows[i]);
        const double x = p->threads, y = th_scale_throughput(p) / 1e6, per_ns = p->characters * 1e3;
        th_plot_line(plot, ink, false, (const double[]){last_x, x}, (const double[]){last_y, y}, 2);
        th_plot_interval_y(plot, ink, x, (th_interval){per_ns / ns.high, per_ns / ns.low});
        th_plot_point(plot, ink, p->oversubscribed, x, y, "%s, %u thread%s: %s characters a second",
                      th_scheduler_name(curve->scheduler), p->threads, th_plural(p->threads),
                      th_digits_from((uint64_t)th_scale_throughput(p)).text);
        last_x = x;
        last_y = y;
    }
}

/* Compares schedulers at the first crowd size and grain. */
static void draw_schedulers(const th_scale *scale, FILE *file)
{
    const th_scale_curve *first = &scale->curves[0];
    th_key keys[TH_SCHEDULER_COUNT];
    uint32_t count = 0;
    th_plot_desc desc = {
        .title = "Schedulers",
        .note = "At the same work.",
        .x_title = "threads",
        .y_title = "millions of characters a second",
        .x = threads_axis(scale, first),
        .keys = keys,
    };
    const th_scale_curve *curves[TH_SCHEDULER_COUNT];
    for (uint32_t i = 0; i < scale->curve_count; i++) {
        const th_scale_curve *c = &scale->curves[i];
        if (c->characters != first->characters || c->grain != first->grain || count == TH_SCHEDULER_COUNT)
            continue;
        keys[count] = (th_key){th_scheduler_name(c->scheduler), (th_ink)count, false};
        curves[count++] = c;
        th_axis_include(&desc.x, scale->points[c->first + c->count - 1].threads);
    }
    desc.key_count = count;
    if (count < 2)
        return;
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        for (uint32_t i = 0; i < count; i++)
            draw_throughput(&plot, scale, curves[i], (th_ink)i);
}

enum { MOST_VALUES = 16 }; /* of an option's list; there is no room for more */

/* The index of the value, which is added if missing; MOST_VALUES if the list is full. */
static uint32_t place_of(uint32_t value, uint32_t *values, uint32_t *count)
{
    for (uint32_t i = 0; i < *count; i++)
        if (values[i] == value)
            return i;
    if (*count == MOST_VALUES)
        return MOST_VALUES;
    values[*count] = value;
    return (*count)++;
}

typedef struct map {
    uint32_t characters[MOST_VALUES], grains[MOST_VALUES], character_count, grain_count;
    double best; /* largest characters/s */
} map;

static map map_of(const th_scale *scale)
{
    map m = {.best = 0};
    for (uint32_t i = 0; i < scale->curve_count; i++) {
        const th_scale_point *p = th_scale_last(scale, &scale->curves[i]);
        place_of(scale->curves[i].characters, m.characters, &m.character_count);
        place_of(scale->curves[i].grain, m.grains, &m.grain_count);
        if (p)
            m.best = fmax(m.best, th_scale_throughput(p));
    }
    return m;
}

static void draw_cells(th_plot *plot, const th_scale *scale, th_scheduler scheduler, map *m)
{
    for (uint32_t i = 0; i < scale->curve_count; i++) {
        const th_scale_curve *c = &scale->curves[i];
        const th_scale_point *p = th_scale_last(scale, c);
        char text[16];
        if (c->scheduler != scheduler || !p)
            continue;
        snprintf(text, sizeof text, "%.3g", th_scale_throughput(p) / 1e6);
        th_plot_cell(plot, place_of(c->characters, m->characters, &m->character_count),
                     place_of(c->grain, m->grains, &m->grain_count), th_scale_throughput(p) / m->best, text,
                     "%u character%s, grain %u, %u thread%s: %s characters a second", c->characters,
                     th_plural(c->characters), c->grain, p->threads, th_plural(p->threads),
                     th_digits_from((uint64_t)th_scale_throughput(p)).text);
    }
}

/* Crowd size by grain, at the most threads. */
static void draw_map(const th_scale *scale, th_scheduler scheduler, FILE *file)
{
    map m = map_of(scale);
    char texts[2][MOST_VALUES][28], title[96];
    const char *rows[MOST_VALUES], *columns[MOST_VALUES];
    for (uint32_t i = 0; i < m.character_count; i++)
        rows[i] = strcpy(texts[0][i], th_digits_from(m.characters[i]).text);
    for (uint32_t i = 0; i < m.grain_count; i++)
        columns[i] = strcpy(texts[1][i], th_digits_from(m.grains[i]).text);
    snprintf(title, sizeof title, "Crowd and grain, scheduler %s", th_scheduler_name(scheduler));
    const th_plot_desc desc = {
        .title = title,
        .note = "Millions of characters a second on the most threads that have a CPU each.",
        .x_title = "grain: batches of 16 in a chunk",
        .y_title = "characters",
        .rows = rows,
        .row_count = m.character_count,
        .row_height = 24,
        .columns = columns,
        .column_count = m.grain_count,
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        draw_cells(&plot, scale, scheduler, &m);
}

static void draw_maps(const th_scale *scale, FILE *file)
{
    const map m = map_of(scale);
    for (uint32_t i = 0; i < scale->curve_count && m.character_count * m.grain_count > 1; i++)
        if (i == 0 || scale->curves[i].scheduler != scale->curves[i - 1].scheduler)
            draw_map(scale, scale->curves[i].scheduler, file);
}

void th_scale_plot_curves(const th_scale *scale, FILE *file)
{
    draw_curve(scale, false, file);
    draw_curve(scale, true, file);
    draw_schedulers(scale, file);
    draw_maps(scale, file);
}
