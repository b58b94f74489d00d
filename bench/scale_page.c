/* A scaling study as a page. */
#include <throng/page.h>
#include <throng/scale.h>

#include "figures.h"
#include "html.h"
#include "plot.h"

#include <math.h>
#include <string.h>

/* Points on a curve that is drawn. */
enum { CURVE_POINTS = 64 };

static const char *const law_names[TH_FIT_LAW_COUNT] = {"Amdahl's law", "Universal Scalability Law"};
static const th_ink law_inks[TH_FIT_LAW_COUNT] = {TH_INK_VERMILION, TH_INK_GREEN};

static bool has_figures(const th_scale *scale, uint32_t point)
{
    return !scale->report.rows[point].failure[0] && scale->points[point].frame_ns > 0;
}

static double throughput(const th_scale_curve *curve, const th_scale_point *p)
{
    return (double)curve->characters / p->frame_ns * 1e9;
}

/* The point with most threads that have a CPU each, of those with figures; NULL: none. */
static const th_scale_point *last_of(const th_scale *scale, const th_scale_curve *curve)
{
    const th_scale_point *last = NULL;
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
        if (has_figures(scale, i) && (!last || !scale->points[i].oversubscribed))
            last = &scale->points[i];
    return last;
}

/* ---- the headline ---- */

static void write_headline(const th_scale *scale, char *out, size_t size)
{
    static const char *const limits[TH_LIMIT_COUNT] = {
        "what limits it is not clear", "limited by computing",          "limited by memory",
        "limited by the cores",        "limited by imbalance",          "limited by wake-ups",
        "limited by a serial part",    "limited by the number of CPUs", "limited by other programs",
    };
    const th_scale_curve *curve = &scale->curves[0];
    const th_scale_point *first = &scale->points[curve->first], *last = last_of(scale, curve);
    if (th_html_trouble(&scale->report, out, size) || !last)
        return;
    if (last->threads == first->threads)
        th_append(out, size, "%s characters a second on %u thread%s",
                  th_digits_from((uint64_t)throughput(curve, last)).text, last->threads, th_plural(last->threads));
    else
        th_append(out, size, "%.2f times as fast on %u threads as on %u (%.0f %% efficiency)", last->speed_up,
                  last->threads, first->threads, 100 * last->efficiency);
    th_append(out, size, ", %s", limits[scale->verdict.limit]);
}

/* ---- the first curve ---- */

/* How many times as fast as the first point with 95 % confidence. */
static th_interval speed_up_interval(const th_scale *scale, const th_scale_curve *curve, uint32_t point)
{
    if (point == curve->first)
        return (th_interval){1, 1};
    return th_ratio_interval(&scale->report.rows[curve->first].real_ns, &scale->report.rows[point].real_ns);
}

/* Threads that are worth showing: those measured, and up to a peak that a fit puts not far behind them. */
static double most_threads(const th_scale *scale, const th_scale_curve *curve)
{
    const double measured = scale->points[curve->first + curve->count - 1].threads;
    const double peak = curve->fits[TH_FIT_USL].peak_threads.value;
    return peak > measured && peak <= 2 * measured ? peak : measured;
}

/* Of the whole machine rather than of a few threads: then equal ratios are as far apart. */
static th_axis threads_axis(const th_scale *scale, const th_scale_curve *curve)
{
    const double least = scale->points[curve->first].threads, most = most_threads(scale, curve);
    th_axis axis = most / least > 16 ? th_axis_log() : th_axis_linear();
    axis.least_step = 1;
    th_axis_include(&axis, axis.is_log ? least : 0);
    th_axis_include(&axis, most);
    return axis;
}

/* divided: by how many times the threads, which makes an efficiency of the speed-up, in percent. */
static double shown(double speed_up, double ratio, bool divided)
{
    return divided ? 100 * speed_up / ratio : speed_up;
}

static void draw_law(th_plot *plot, const th_scale *scale, const th_scale_curve *curve, th_fit_law law, bool divided)
{
    const th_scale_point *first = &scale->points[curve->first];
    const double base = throughput(curve, first), most = most_threads(scale, curve);
    double x[CURVE_POINTS], y[CURVE_POINTS];
    for (int i = 0; i < CURVE_POINTS; i++) {
        x[i] = first->threads * pow(most / first->threads, (double)i / (CURVE_POINTS - 1));
        y[i] = shown(th_fit_at(&curve->fits[law], x[i]) / base, x[i] / first->threads, divided);
    }
    th_plot_line(plot, law_inks[law], true, x, y, CURVE_POINTS);
}

static void draw_ideal(th_plot *plot, const th_scale *scale, const th_scale_curve *curve, bool divided)
{
    const double first = scale->points[curve->first].threads, most = most_threads(scale, curve);
    double x[CURVE_POINTS], y[CURVE_POINTS];
    for (int i = 0; i < CURVE_POINTS; i++) {
        x[i] = first * pow(most / first, (double)i / (CURVE_POINTS - 1));
        y[i] = shown(x[i] / first, x[i] / first, divided);
    }
    th_plot_line(plot, TH_INK_GREY, true, x, y, CURVE_POINTS);
}

static void draw_points(th_plot *plot, const th_scale *scale, const th_scale_curve *curve, bool divided)
{
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_scale_point *p = &scale->points[i];
        if (!has_figures(scale, i))
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

static void include_points(th_axis *y, const th_scale *scale, const th_scale_curve *curve, bool divided)
{
    const double first = scale->points[curve->first].threads;
    th_axis_include(y, 0);
    th_axis_include(y, shown(most_threads(scale, curve) / first, most_threads(scale, curve) / first, divided));
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
        if (has_figures(scale, i))
            th_axis_include(y,
                            shown(speed_up_interval(scale, curve, i).high, scale->points[i].threads / first, divided));
}

static void draw_curve(const th_scale *scale, bool divided, FILE *file)
{
    const th_scale_curve *curve = &scale->curves[0];
    const bool fitted = curve->fits[0].status == TH_FIT_GOOD;
    const th_key keys[] = {{"measured", TH_INK_BLUE, false},
                           {"ideal", TH_INK_GREY, true},
                           {law_names[TH_FIT_AMDAHL], law_inks[TH_FIT_AMDAHL], true},
                           {law_names[TH_FIT_USL], law_inks[TH_FIT_USL], true}};
    th_plot_desc desc = {
        .title = divided ? "Efficiency" : "Speed-up",
        .note = divided ? "Speed-up over how many times the threads: what is missing to 100 % is lost."
                        : "Bars: 95 % confidence. Hollow: more threads than CPUs.",
        .x_title = "threads",
        .y_title = divided ? "percent of the ideal" : "times as fast",
        .x = threads_axis(scale, curve),
        .y = th_axis_linear(),
        .keys = keys,
        .key_count = fitted ? 4 : 2,
    };
    th_plot plot;
    include_points(&desc.y, scale, curve, divided);
    th_plot_begin(&plot, &desc, file);
    draw_ideal(&plot, scale, curve, divided);
    for (int law = 0; fitted && law < TH_FIT_LAW_COUNT; law++)
        draw_law(&plot, scale, curve, (th_fit_law)law, divided);
    const double peak = curve->fits[TH_FIT_USL].peak_threads.value;
    if (fitted && isfinite(peak))
        th_plot_rule_x(&plot, peak, "peak");
    draw_points(&plot, scale, curve, divided);
    th_plot_end(&plot);
}

/* ---- where the time of threads goes ---- */

/* Parts of a whole, one behind the other. */
static void draw_parts(th_plot *plot, uint32_t row, const char *name, const double *parts, const th_key *keys,
                       uint32_t count, const char *unit)
{
    double from = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i] > 0)
            th_plot_bar(plot, keys[i].ink, from, from + parts[i], row + 0.15, row + 0.85, "%s: %s %.3g %s", name,
                        keys[i].text, parts[i], unit);
        from += parts[i] > 0 ? parts[i] : 0;
    }
}

static const th_key time_keys[] = {{"in the work", TH_INK_BLUE, false},
                                   {"waiting for the last one", TH_INK_VERMILION, false},
                                   {"looking for work", TH_INK_OCHRE, false},
                                   {"outside of calls", TH_INK_GREY, false}};

static void draw_shares(const th_scale *scale, FILE *file)
{
    const th_scale_curve *curve = &scale->curves[0];
    char names[TH_JOBS_MAX_THREADS][16];
    const char *rows[TH_JOBS_MAX_THREADS];
    th_plot plot;
    for (uint32_t i = 0; i < curve->count; i++) {
        const th_scale_point *p = &scale->points[curve->first + i];
        snprintf(names[i], sizeof names[i], "%u%s", p->threads, p->oversubscribed ? "*" : "");
        rows[i] = names[i];
    }
    th_plot_desc desc = {
        .title = "Where the time of all threads goes",
        .note = "Threads times frame time. Behind the bars: by how much the busiest worker is above the mean.",
        .x_title = "percent",
        .y_title = "threads",
        .x = th_axis_linear(),
        .rows = rows,
        .row_count = curve->count,
        .keys = time_keys,
        .key_count = 4,
    };
    th_axis_include(&desc.x, 0);
    th_axis_include(&desc.x, 112);
    th_plot_begin(&plot, &desc, file);
    for (uint32_t i = 0; i < curve->count; i++) {
        const th_scale_point *p = &scale->points[curve->first + i];
        const double in_calls = 100 * (1 - p->serial);
        const double parts[] = {in_calls * p->busy, in_calls * p->tail, in_calls * fmax(0, 1 - p->busy - p->tail),
                                100 * p->serial};
        char text[24];
        if (!has_figures(scale, curve->first + i))
            continue;
        draw_parts(&plot, i, names[i], parts, time_keys, 4, "%");
        snprintf(text, sizeof text, "+%.1f %%", 100 * p->imbalance);
        th_plot_label(&plot, 99, i + 0.5, text);
    }
    th_plot_end(&plot);
}

static double figure_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : 0;
}

/* Rows of workers; where there are many, not each has a name. */
enum { NAMED_WORKERS = 32 };

typedef struct worker_names {
    char texts[TH_JOBS_MAX_THREADS][16];
    const char *rows[TH_JOBS_MAX_THREADS];
} worker_names;

static const char *const *name_workers(worker_names *names, uint32_t count)
{
    for (uint32_t w = 0; w < count; w++) {
        const bool is_named = count <= NAMED_WORKERS || w % 8 == 0;
        snprintf(names->texts[w], sizeof names->texts[w], is_named ? "worker %u" : "", w);
        names->rows[w] = names->texts[w];
    }
    return names->rows;
}

static double worker_height(uint32_t count)
{
    return count > NAMED_WORKERS ? fmax(2, 544.0 / count) : 0;
}

static void draw_workers(const th_scale *scale, FILE *file)
{
    const th_scale_curve *curve = &scale->curves[0];
    const th_scale_point *last = last_of(scale, curve);
    const json_t *workers = last ? json_object_get(scale->report.rows[last - scale->points].once, "workers") : NULL;
    const uint32_t count = (uint32_t)json_array_size(workers);
    worker_names names;
    char title[64];
    th_plot plot;
    if (count < 2 || count > TH_JOBS_MAX_THREADS)
        return;
    snprintf(title, sizeof title, "Each worker, %u threads", count);
    th_plot_desc desc = {
        .title = title,
        .note = "On average over all frames that were timed.",
        .x_title = "microseconds a frame",
        .y_title = "",
        .x = th_axis_linear(),
        .rows = name_workers(&names, count),
        .row_count = count,
        .row_height = worker_height(count),
        .keys = time_keys,
        .key_count = 3,
    };
    th_axis_include(&desc.x, 0);
    for (uint32_t w = 0; w < count; w++) {
        const json_t *worker = json_array_get(workers, w);
        th_axis_include(&desc.x, figure_of(worker, "busy_us") + figure_of(worker, "idle_us"));
    }
    th_plot_begin(&plot, &desc, file);
    for (uint32_t w = 0; w < count; w++) {
        const json_t *worker = json_array_get(workers, w);
        const double tail = figure_of(worker, "tail_us");
        const double parts[] = {figure_of(worker, "busy_us"), tail, figure_of(worker, "idle_us") - tail};
        char name[24];
        snprintf(name, sizeof name, "worker %u", w);
        draw_parts(&plot, w, name, parts, time_keys, 3, "us");
    }
    th_plot_end(&plot);
}

/* ---- one frame ---- */

enum { MOST_CHUNKS = 4000 }; /* more would be a blur of megabytes */

/* [worker, begin, end, start_us, end_us] */
static void draw_chunk(th_plot *plot, const json_t *chunk)
{
    const uint32_t worker = (uint32_t)json_integer_value(json_array_get(chunk, 0));
    const int begin = (int)json_integer_value(json_array_get(chunk, 1));
    const int end = (int)json_integer_value(json_array_get(chunk, 2));
    const double from = json_number_value(json_array_get(chunk, 3)), to = json_number_value(json_array_get(chunk, 4));
    th_plot_bar(plot, begin / (end - begin) % 2 ? TH_INK_SKY : TH_INK_BLUE, from, to, worker + 0.1, worker + 0.9,
                "worker %u, batches %d to %d: %.1f to %.1f us", worker, begin, end, from, to);
}

static void draw_frame(const th_scale *scale, FILE *file)
{
    const th_scale_point *last = last_of(scale, &scale->curves[0]);
    const json_t *trace = last ? json_object_get(scale->report.rows[last - scale->points].once, "trace") : NULL;
    worker_names names;
    size_t index;
    const json_t *chunk;
    th_plot plot;
    if (json_array_size(trace) == 0 || json_array_size(trace) > MOST_CHUNKS)
        return;
    th_plot_desc desc = {
        .title = "One frame, chunk by chunk",
        .note = "A frame of its own, after those that were timed.",
        .x_title = "microseconds",
        .y_title = "",
        .x = th_axis_linear(),
        .rows = name_workers(&names, last->threads),
        .row_count = last->threads,
        .row_height = worker_height(last->threads),
    };
    json_array_foreach(trace, index, chunk)
    {
        th_axis_include(&desc.x, json_number_value(json_array_get(chunk, 3)));
        th_axis_include(&desc.x, json_number_value(json_array_get(chunk, 4)));
    }
    th_plot_begin(&plot, &desc, file);
    json_array_foreach(trace, index, chunk) draw_chunk(&plot, chunk);
    th_plot_end(&plot);
}

/* ---- losses, parts, memory ---- */

static void draw_losses(const th_scale *scale, FILE *file)
{
    static const char *const names[] = {"memory", "cores", "imbalance", "wake-ups", "serial part"};
    const th_verdict *v = &scale->verdict;
    const th_scale_point *last = last_of(scale, &scale->curves[0]);
    th_plot_desc desc = {
        .title = "What is lost",
        .note = "Shares of all threads' time, as far as they are explained.",
        .x_title = "percent",
        .y_title = "",
        .x = th_axis_linear(),
        .rows = names,
        .row_count = 5,
    };
    th_plot plot;
    if (!last || last->threads == scale->points[0].threads)
        return;
    th_axis_include(&desc.x, 0);
    th_axis_include(&desc.x, fmax(1, 100 * v->lost));
    for (int l = TH_LIMIT_MEMORY; l <= TH_LIMIT_SERIAL; l++)
        th_axis_include(&desc.x, 100 * v->losses[l]);
    th_plot_begin(&plot, &desc, file);
    for (int l = TH_LIMIT_MEMORY; l <= TH_LIMIT_SERIAL; l++)
        th_plot_bar(&plot, (th_limit)l == v->limit ? TH_INK_VERMILION : TH_INK_BLUE, 0, 100 * v->losses[l],
                    l - TH_LIMIT_MEMORY + 0.15, l - TH_LIMIT_MEMORY + 0.85, "%s: %.1f %%", names[l - TH_LIMIT_MEMORY],
                    100 * v->losses[l]);
    th_plot_rule_x(&plot, 100 * v->lost, "lost in all");
    th_plot_end(&plot);
}

static double whole_frame(const th_scale *scale, const th_scale_parts *parts)
{
    for (uint32_t i = 0; i < scale->curves[0].count; i++)
        if (scale->points[i].threads == parts->threads && has_figures(scale, i))
            return scale->points[i].frame_ns;
    return (double)NAN;
}

static void draw_ablation(const th_scale *scale, FILE *file)
{
    static const char *const names[] = {"whole frame",   "no palette write", "no hierarchy",
                                        "sampling only", "write only",       "empty chunks"};
    static const th_ink part_inks[] = {TH_INK_BLUE, TH_INK_VERMILION};
    char texts[2][24];
    th_key keys[2];
    th_plot plot;
    th_plot_desc desc = {
        .title = "Frames of which a part is left out",
        .note = "Medians. What a bar is shorter than the whole, that part costs.",
        .x_title = "milliseconds a frame",
        .y_title = "",
        .x = th_axis_linear(),
        .rows = names,
        .row_count = 1 + TH_ABLATION_COUNT,
        .row_height = 24,
        .keys = keys,
        .key_count = scale->part_count,
    };
    th_axis_include(&desc.x, 0);
    for (uint32_t i = 0; i < scale->part_count; i++) {
        const th_scale_parts *parts = &scale->parts[i];
        snprintf(texts[i], sizeof texts[i], "%u thread%s", parts->threads, th_plural(parts->threads));
        keys[i] = (th_key){texts[i], part_inks[i], false};
        th_axis_include(&desc.x, whole_frame(scale, parts) / 1e6);
        for (int a = 0; a < TH_ABLATION_COUNT; a++)
            th_axis_include(&desc.x, parts->frame_ns[a] / 1e6);
    }
    th_plot_begin(&plot, &desc, file);
    for (uint32_t i = 0; i < scale->part_count; i++)
        for (int row = 0; row <= TH_ABLATION_COUNT; row++) {
            const th_scale_parts *parts = &scale->parts[i];
            const double ms = (row == 0 ? whole_frame(scale, parts) : parts->frame_ns[row - 1]) / 1e6;
            const double height = 0.7 / scale->part_count, top = row + 0.15 + i * height;
            th_plot_bar(&plot, keys[i].ink, 0, ms, top, top + height, "%s, %s: %.3f ms", names[row], texts[i], ms);
        }
    th_plot_end(&plot);
}

static void draw_memory(const th_scale *scale, FILE *file)
{
    static const th_key keys[] = {
        {"write", TH_INK_BLUE, false}, {"read", TH_INK_VERMILION, false}, {"streaming write", TH_INK_GREEN, false}};
    th_plot plot;
    th_plot_desc desc = {
        .title = "Bandwidth of the memory",
        .note = "Of a block larger than the caches: what the program moves.",
        .x_title = "threads",
        .y_title = "GB/s",
        .x = th_axis_linear(),
        .y = th_axis_linear(),
        .keys = keys,
        .key_count = TH_TRAFFIC_COUNT,
    };
    desc.x.least_step = 1;
    th_axis_include(&desc.x, 0);
    th_axis_include(&desc.x, scale->memory[scale->memory_count - 1].threads);
    th_axis_include(&desc.y, 0);
    for (uint32_t i = 0; i < scale->memory_count; i++)
        for (int t = 0; t < TH_TRAFFIC_COUNT; t++)
            th_axis_include(&desc.y, scale->memory[i].bytes_per_s[t] / 1e9);
    th_plot_begin(&plot, &desc, file);
    for (int t = 0; t < TH_TRAFFIC_COUNT; t++)
        for (uint32_t i = 0; i < scale->memory_count; i++) {
            const th_scale_memory *m = &scale->memory[i], *before = i > 0 ? m - 1 : m;
            const double x[] = {before->threads, m->threads};
            const double y[] = {before->bytes_per_s[t] / 1e9, m->bytes_per_s[t] / 1e9};
            th_plot_line(&plot, keys[t].ink, false, x, y, 2);
            th_plot_point(&plot, keys[t].ink, false, x[1], y[1], "%s, %u thread%s: %.1f GB/s", keys[t].text, m->threads,
                          th_plural(m->threads), y[1]);
        }
    th_plot_end(&plot);
}

/* ---- all curves ---- */

static void draw_throughput(th_plot *plot, const th_scale *scale, const th_scale_curve *curve, th_ink ink)
{
    double last_x = (double)NAN, last_y = (double)NAN;
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_scale_point *p = &scale->points[i];
        if (!has_figures(scale, i))
            continue;
        const th_interval ns = th_median_interval(&scale->report.rows[i].real_ns);
        const double x = p->threads, y = throughput(curve, p) / 1e6, per_ns = curve->characters * 1e3;
        th_plot_line(plot, ink, false, (const double[]){last_x, x}, (const double[]){last_y, y}, 2);
        th_plot_interval_y(plot, ink, x, (th_interval){per_ns / ns.high, per_ns / ns.low});
        th_plot_point(plot, ink, p->oversubscribed, x, y, "%s, %u thread%s: %s characters a second",
                      th_scheduler_name(curve->scheduler), p->threads, th_plural(p->threads),
                      th_digits_from((uint64_t)throughput(curve, p)).text);
        last_x = x;
        last_y = y;
    }
}

/* Schedulers at the first crowd and grain. */
static void draw_schedulers(const th_scale *scale, FILE *file)
{
    const th_scale_curve *first = &scale->curves[0];
    th_key keys[TH_SCHEDULER_COUNT];
    uint32_t count = 0;
    th_plot plot;
    th_plot_desc desc = {
        .title = "Schedulers",
        .note = "At the same work.",
        .x_title = "threads",
        .y_title = "millions of characters a second",
        .x = threads_axis(scale, first),
        .y = th_axis_linear(),
        .keys = keys,
    };
    const th_scale_curve *curves[TH_SCHEDULER_COUNT];
    th_axis_include(&desc.y, 0);
    for (uint32_t i = 0; i < scale->curve_count; i++) {
        const th_scale_curve *c = &scale->curves[i];
        if (c->characters != first->characters || c->grain != first->grain)
            continue;
        keys[count] = (th_key){th_scheduler_name(c->scheduler), (th_ink)count, false};
        curves[count++] = c;
        for (uint32_t p = c->first; p < c->first + c->count; p++)
            if (has_figures(scale, p))
                th_axis_include(&desc.y, c->characters * 1e3 / th_median_interval(&scale->report.rows[p].real_ns).low);
    }
    desc.key_count = count;
    if (count < 2)
        return;
    th_plot_begin(&plot, &desc, file);
    for (uint32_t i = 0; i < count; i++)
        draw_throughput(&plot, scale, curves[i], (th_ink)i);
    th_plot_end(&plot);
}

enum { MOST_VALUES = 16 }; /* of a list of the command line; there is no room for more */

/* Index of the value, which is added where it is missing; MOST_VALUES where there is no room. */
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
    double best; /* characters a second, of all */
} map;

static map map_of(const th_scale *scale)
{
    map m = {.best = 0};
    for (uint32_t i = 0; i < scale->curve_count; i++) {
        const th_scale_point *p = last_of(scale, &scale->curves[i]);
        place_of(scale->curves[i].characters, m.characters, &m.character_count);
        place_of(scale->curves[i].grain, m.grains, &m.grain_count);
        if (p)
            m.best = fmax(m.best, throughput(&scale->curves[i], p));
    }
    return m;
}

static void draw_cells(th_plot *plot, const th_scale *scale, th_scheduler scheduler, map *m)
{
    for (uint32_t i = 0; i < scale->curve_count; i++) {
        const th_scale_curve *c = &scale->curves[i];
        const th_scale_point *p = last_of(scale, c);
        char text[16];
        if (c->scheduler != scheduler || !p)
            continue;
        snprintf(text, sizeof text, "%.3g", throughput(c, p) / 1e6);
        th_plot_cell(plot, place_of(c->characters, m->characters, &m->character_count),
                     place_of(c->grain, m->grains, &m->grain_count), throughput(c, p) / m->best, text,
                     "%u characters, grain %u, %u thread%s: %s characters a second", c->characters, c->grain,
                     p->threads, th_plural(p->threads), th_digits_from((uint64_t)throughput(c, p)).text);
    }
}

/* Crowds by grains, at most threads. */
static void draw_map(const th_scale *scale, th_scheduler scheduler, FILE *file)
{
    map m = map_of(scale);
    char texts[2][MOST_VALUES][28], title[96];
    const char *rows[MOST_VALUES], *columns[MOST_VALUES];
    th_plot plot;
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
    th_plot_begin(&plot, &desc, file);
    draw_cells(&plot, scale, scheduler, &m);
    th_plot_end(&plot);
}

static void draw_maps(const th_scale *scale, FILE *file)
{
    const map m = map_of(scale);
    for (uint32_t i = 0; i < scale->curve_count && m.character_count * m.grain_count > 1; i++)
        if (i == 0 || scale->curves[i].scheduler != scale->curves[i - 1].scheduler)
            draw_map(scale, scale->curves[i].scheduler, file);
}

/* ---- the page ---- */

static void draw_all(const th_scale *scale, FILE *file)
{
    th_html_section("Plots", file);
    th_html_figures(file);
    draw_curve(scale, false, file);
    draw_curve(scale, true, file);
    draw_losses(scale, file);
    draw_shares(scale, file);
    draw_workers(scale, file);
    draw_frame(scale, file);
    draw_ablation(scale, file);
    draw_memory(scale, file);
    draw_schedulers(scale, file);
    draw_maps(scale, file);
    th_html_figures_end(file);
    th_html_section_end(file);
}

bool th_scale_page(const th_scale *scale, const char *command, FILE *file)
{
    const th_report *report = &scale->report;
    const bool has_any = !report->is_rehearsal && last_of(scale, &scale->curves[0]);
    char headline[256] = "";
    write_headline(scale, headline, sizeof headline);
    th_html_begin(&(th_html_head){"throng scale", headline, has_any ? scale->verdict.text : NULL, command}, file);
    th_html_conditions(report, file);
    th_scale_print_how(scale, TH_FORMAT_HTML, file);
    th_html_doubts(report, file);
    bool made = th_html_failures(report, file);
    if (has_any)
        draw_all(scale, file);
    th_html_section("Figures", file);
    made = (report->is_rehearsal ? th_report_print_rehearsal(report, TH_FORMAT_HTML, file)
                                 : th_scale_print_figures(scale, TH_FORMAT_HTML, file)) &&
           made;
    th_html_section_end(file);
    made = th_html_context(report, file) && made;
    return th_html_end(file) && made;
}
