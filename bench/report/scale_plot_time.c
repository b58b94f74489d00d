#include "scale_plots.h"
#include "scaling/share_text.h"

#include <throng/core/text_format.h>

#include <math.h>

/* ---- where the time of threads goes ---- */

/* Draws a stacked bar. */
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

static const th_key time_keys[] = {{"busy", TH_INK_BLUE, false},
                                   {"idle at end", TH_INK_VERMILION, false},
                                   {"waiting for work", TH_INK_OCHRE, false},
                                   {"serial", TH_INK_GREY, false}};

static void draw_shares_of(th_plot *plot, uint32_t row, const char *name, const th_scale_point *p)
{
    const double in_calls = 100 * (1 - p->serial);
    const double parts[] = {in_calls * p->busy, in_calls * p->idle_at_end,
                            in_calls * fmax(0, 1 - p->busy - p->idle_at_end), 100 * p->serial};
    char text[24];
    draw_parts(plot, row, name, parts, time_keys, 4, "%");
    snprintf(text, sizeof text, "+%.1f %%", 100 * p->imbalance);
    th_plot_label(plot, 99, row + 0.5, text);
}

static void draw_shares(const th_scale *scale, FILE *file)
{
    const th_scale_curve *curve = &scale->curves[0];
    char names[TH_JOBS_MAX_THREADS][16];
    const char *rows[TH_JOBS_MAX_THREADS];
    for (uint32_t i = 0; i < curve->count; i++) {
        const th_scale_point *p = &scale->points[curve->first + i];
        snprintf(names[i], sizeof names[i], "%u%s", p->threads, p->oversubscribed ? "*" : "");
        rows[i] = names[i];
    }
    const th_plot_desc desc = {
        .title = "Where the time of all threads goes",
        .note = "Shares of threads x frame time. After the bars: imbalance, the busiest worker over the mean.",
        .x_title = "percent",
        .y_title = "threads",
        .x = {.high = 112},
        .rows = rows,
        .row_count = curve->count,
        .keys = time_keys,
        .key_count = 4,
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        for (uint32_t i = 0; i < curve->count; i++)
            if (th_scale_has_figures(scale, curve->first + i))
                draw_shares_of(&plot, i, names[i], &scale->points[curve->first + i]);
}

static double figure_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : 0;
}

/* With more workers than this, only some have names. */
enum { NAMED_WORKERS = 32 };

typedef struct worker_names {
    char texts[TH_JOBS_MAX_THREADS][24];
    const char *rows[TH_JOBS_MAX_THREADS];
} worker_names;

static const char *const *name_workers(worker_names *names, uint32_t count)
{
    for (uint32_t w = 0; w < count; w++) {
        names->texts[w][0] = '\0';
        if (count <= NAMED_WORKERS || w % 8 == 0)
            snprintf(names->texts[w], sizeof names->texts[w], "worker %u", w);
        names->rows[w] = names->texts[w];
    }
    return names->rows;
}

static double worker_height(uint32_t count)
{
    return count > NAMED_WORKERS ? fmax(2, 544.0 / count) : 0;
}

static void draw_worker(th_plot *plot, uint32_t number, const json_t *worker)
{
    const double idle_at_end = figure_of(worker, "idle_at_end_us");
    const double parts[] = {figure_of(worker, "busy_us"), idle_at_end, figure_of(worker, "idle_us") - idle_at_end};
    char name[24];
    snprintf(name, sizeof name, "worker %u", number);
    draw_parts(plot, number, name, parts, time_keys, 3, "us");
}

static void draw_workers(const th_scale *scale, FILE *file)
{
    const th_scale_curve *curve = &scale->curves[0];
    const th_scale_point *last = th_scale_last(scale, curve);
    const json_t *workers = last ? json_object_get(scale->report.rows[last - scale->points].once, "workers") : NULL;
    const uint32_t count = (uint32_t)json_array_size(workers);
    worker_names names;
    char title[64];
    if (count < 2 || count > TH_JOBS_MAX_THREADS)
        return;
    snprintf(title, sizeof title, "Each worker, %u threads", count);
    const th_plot_desc desc = {
        .title = title,
        .note = "Averages over all timed frames.",
        .x_title = "microseconds per frame",
        .rows = name_workers(&names, count),
        .row_count = count,
        .row_height = worker_height(count),
        .keys = time_keys,
        .key_count = 3,
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        for (uint32_t w = 0; w < count; w++)
            draw_worker(&plot, w, json_array_get(workers, w));
}

/* ---- one frame ---- */

enum { MOST_CHUNKS = 4000 }; /* more would need megabytes and could not be told apart */

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
    const th_scale_point *last = th_scale_last(scale, &scale->curves[0]);
    const json_t *trace = last ? json_object_get(scale->report.rows[last - scale->points].once, "trace") : NULL;
    worker_names names;
    size_t index;
    const json_t *chunk;
    if (json_array_size(trace) == 0 || json_array_size(trace) > MOST_CHUNKS)
        return;
    const th_plot_desc desc = {
        .title = "One frame, chunk by chunk",
        .note = "An extra frame, recorded after the timed ones.",
        .x_title = "microseconds",
        .x = th_axis_linear(),
        .rows = name_workers(&names, last->threads),
        .row_count = last->threads,
        .row_height = worker_height(last->threads),
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        json_array_foreach(trace, index, chunk) draw_chunk(&plot, chunk);
}

/* ---- losses, parts, memory ---- */

static void draw_losses(const th_scale *scale, FILE *file)
{
    static const char *const names[] = {"memory", "cores", "imbalance", "wake-ups", "serial part"};
    const th_bottleneck *v = &scale->bottleneck;
    const th_scale_point *last = th_scale_last(scale, &scale->curves[0]);
    const th_plot_desc desc = {
        .title = "Losses",
        .note = "Shares of all threads' time, as far as they are explained.",
        .x_title = "percent",
        .x = {.high = fmax(1, 100 * v->lost.value)},
        .rows = names,
        .row_count = 5,
    };
    if (!last || last->threads == scale->points[0].threads)
        return;
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        for (int l = TH_BOTTLENECK_MEMORY; l <= TH_BOTTLENECK_SERIAL; l++)
            th_plot_bar(&plot, (th_bottleneck_kind)l == v->kind ? TH_INK_VERMILION : TH_INK_BLUE, 0,
                        100 * v->losses[l].value, l - TH_BOTTLENECK_MEMORY + 0.15, l - TH_BOTTLENECK_MEMORY + 0.85,
                        "%s: %s", names[l - TH_BOTTLENECK_MEMORY], th_share_text_of(&v->losses[l]).text);
        th_plot_rule_x(&plot, 100 * v->lost.value, "total");
    }
}

static double whole_frame(const th_scale *scale, const th_scale_parts *parts)
{
    for (uint32_t i = 0; i < scale->curves[0].count; i++)
        if (scale->points[i].threads == parts->threads && th_scale_has_figures(scale, i))
            return scale->points[i].frame_ns;
    return (double)NAN;
}

static void draw_ablation(const th_scale *scale, FILE *file)
{
    const char *names[1 + TH_ABLATION_COUNT];
    static const th_ink part_inks[] = {TH_INK_BLUE, TH_INK_VERMILION};
    char texts[2][24];
    th_key keys[2];
    const th_plot_desc desc = {
        .title = "Ablations",
        .note = "Medians. The part that is left out costs the difference to the whole frame.",
        .x_title = "milliseconds per frame",
        .rows = names,
        .row_count = 1 + TH_ABLATION_COUNT,
        .row_height = 24,
        .keys = keys,
        .key_count = scale->part_count,
    };
    for (uint32_t i = 0; i < scale->part_count; i++) {
        const th_scale_parts *parts = &scale->parts[i];
        snprintf(texts[i], sizeof texts[i], "%u thread%s", parts->threads, th_plural(parts->threads));
        keys[i] = (th_key){texts[i], part_inks[i], false};
    }
    for (int row = 0; row <= TH_ABLATION_COUNT; row++)
        names[row] = th_ablation_columns[row] + 1;
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        for (int bar = 0; bar < (1 + TH_ABLATION_COUNT) * (int)scale->part_count; bar++) {
            const int i = bar / (1 + TH_ABLATION_COUNT), row = bar % (1 + TH_ABLATION_COUNT);
            const th_scale_parts *parts = &scale->parts[i];
            const double ms = (row == 0 ? whole_frame(scale, parts) : parts->frame_ns[row - 1]) / 1e6;
            const double height = 0.7 / scale->part_count, top = row + 0.15 + i * height;
            th_plot_bar(&plot, keys[i].ink, 0, ms, top, top + height, "%s, %s: %.3f ms", names[row], texts[i], ms);
        }
}

static void draw_bandwidth(th_plot *plot, const th_key *key, const th_scale *scale, th_bandwidth_kind kind)
{
    for (uint32_t i = 0; i < scale->memory_count; i++) {
        const th_scale_memory *m = &scale->memory[i], *before = i > 0 ? m - 1 : m;
        const double x[] = {before->threads, m->threads};
        const double y[] = {before->bytes_per_s[kind] / 1e9, m->bytes_per_s[kind] / 1e9};
        th_plot_line(plot, key->ink, false, x, y, 2);
        th_plot_point(plot, key->ink, false, x[1], y[1], "%s, %u thread%s: %.1f GB/s", key->text, m->threads,
                      th_plural(m->threads), y[1]);
    }
}

static void draw_memory(const th_scale *scale, FILE *file)
{
    static const th_key keys[] = {
        {"write", TH_INK_BLUE, false}, {"read", TH_INK_VERMILION, false}, {"streaming write", TH_INK_GREEN, false}};
    const th_plot_desc desc = {
        .title = "Memory bandwidth",
        .note = "In a block larger than the caches; bytes that the program reads or writes.",
        .x_title = "threads",
        .y_title = "GB/s",
        .x = {.least_step = 1},
        .keys = keys,
        .key_count = TH_BANDWIDTH_COUNT,
    };
    if (scale->memory_count == 0)
        return;
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        for (int t = 0; t < TH_BANDWIDTH_COUNT; t++)
            draw_bandwidth(&plot, &keys[t], scale, (th_bandwidth_kind)t);
}

void th_scale_plot_time(const th_scale *scale, FILE *file)
{
    draw_losses(scale, file);
    draw_shares(scale, file);
    draw_workers(scale, file);
    draw_frame(scale, file);
    draw_ablation(scale, file);
    draw_memory(scale, file);
}
