/* The page of a stress test. */
#include "html.h"
#include "plot.h"

#include <throng/bench/page.h>
#include <throng/bench/stress.h>

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static bool has_figures(const th_stress *stress, uint32_t point)
{
    return !stress->report.rows[point].failure[0] && stress->points[point].ticks.frames > 0;
}

static bool has_any_figures(const th_stress *stress)
{
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (has_figures(stress, i))
            return true;
    return false;
}

/* ---- frame times ---- */

/* A histogram of frame times, with a count of those beyond the axis. The budget is a bin border, so no bin mixes frames
 * within the budget with deadline misses. */
enum { MOST_BINS = 80 };

typedef struct histogram {
    double budget, width; /* ms */
    double first;         /* first bin, relative to the budget; below 0: within budget */
    uint32_t counts[MOST_BINS + 2];
    uint32_t bins, beyond;
} histogram;

/* A frame of exactly the budget is in time. */
static double bin_of(const histogram *h, double ms)
{
    return ms > h->budget ? floor((ms - h->budget) / h->width) : -1 - floor((h->budget - ms) / h->width);
}

/* Lower border of a bin, ms. */
static double border_of(const histogram *h, uint32_t bin)
{
    return h->budget + (h->first + bin) * h->width;
}

/* The range covers most frames and the budget: a frame of one second would leave no room for the rest. */
static histogram histogram_of(const double *sorted_ns, uint32_t count, double budget_ns)
{
    const double usual = sorted_ns[(uint32_t)ceil(0.995 * count) - 1];
    const double longest = sorted_ns[count - 1], end = fmin(longest, 1.5 * fmax(usual, budget_ns)) / 1e6;
    const double low = sorted_ns[0] / 1e6, width = th_axis_step(fmax(end - low, 1e-6 * end) / MOST_BINS);
    histogram h = {.budget = budget_ns / 1e6, .width = width};
    h.first = bin_of(&h, low);
    h.bins = (uint32_t)fmin(bin_of(&h, end) - h.first + 1, MOST_BINS + 2);
    for (uint32_t i = 0; i < count; i++) {
        const double bin = bin_of(&h, sorted_ns[i] / 1e6) - h.first;
        if (bin < h.bins)
            h.counts[(uint32_t)bin]++;
        else
            h.beyond++;
    }
    return h;
}

static void draw_bins(th_plot *plot, const histogram *h)
{
    for (uint32_t b = 0; b < h->bins; b++) {
        const double from = border_of(h, b), to = border_of(h, b + 1);
        if (h->counts[b] > 0)
            th_plot_bar(plot, h->first + b >= 0 ? TH_INK_VERMILION : TH_INK_BLUE, from, to, plot->y.low, h->counts[b],
                        "%.4g to %.4g ms: %u frame%s", from, to, h->counts[b], th_plural(h->counts[b]));
    }
}

static void draw_frames(const th_stress *stress, uint32_t point, FILE *file)
{
    const th_stress_point *p = &stress->points[point];
    const double budget_ms = stress->budget_ns / 1e6, p99_ms = p->times.p99 / 1e6;
    const th_samples *ns = &stress->report.rows[point].real_ns;
    char title[96], note[160] = "";
    const th_key keys[] = {{"within budget", TH_INK_BLUE, false}, {"deadline miss", TH_INK_VERMILION, false}};
    if (ns->count == 0)
        return;
    const histogram h = histogram_of(th_samples_sorted(ns), ns->count, stress->budget_ns);
    snprintf(title, sizeof title, "Frame times of %s character%s", th_digits_from(p->search.confirmed.items).text,
             th_plural(p->search.confirmed.items));
    th_append(note, sizeof note, "The last confirmation run: %s frames, %u late.", th_digits_from(p->ticks.frames).text,
              p->ticks.late);
    if (h.beyond > 0)
        th_append(note, sizeof note, " %u more are beyond the axis, up to %.4g ms.", h.beyond, p->times.max / 1e6);
    th_plot_desc desc = {
        .title = title,
        .note = note,
        .x_title = "ms",
        .y_title = "frames",
        .x = th_axis_linear(),
        .y = th_axis_log(),
        .keys = keys,
        .key_count = 2,
    };
    th_axis_include(&desc.x, border_of(&h, 0));
    th_axis_include(&desc.x, border_of(&h, h.bins));
    th_axis_include(&desc.x, budget_ms);
    desc.y.least_step = 1;
    th_axis_include(&desc.y, 0.7); /* a bin with a single frame must be visible */
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        draw_bins(&plot, &h);
        th_plot_rule_x(&plot, budget_ms, "budget");
        th_plot_rule_x(&plot, p99_ms, "p99");
    }
}

/* ---- the error on screen ---- */

enum { MOST_ERRORS = 400 }; /* points of a line; each is the largest of several frames where there are more */

static double largest(const th_stress_point *p, uint32_t begin, uint32_t end, size_t field)
{
    double most = 0;
    for (uint32_t i = begin; i < end && i < p->error_count; i++)
        most = fmax(most, *(const double *)(const void *)((const char *)&p->errors[i] + field));
    return most;
}

static void draw_error_line(th_plot *plot, th_ink ink, const th_stress_point *p, size_t field)
{
    double x[MOST_ERRORS], y[MOST_ERRORS];
    const uint32_t each = (p->error_count + MOST_ERRORS - 1) / MOST_ERRORS;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->error_count; i += each) {
        x[count] = p->errors[i].frame / TH_FRAME_RATE;
        y[count++] = largest(p, i, i + each, field);
    }
    th_plot_line(plot, ink, false, x, y, count);
}

static void draw_errors(const th_stress *stress, uint32_t point, FILE *file)
{
    const th_stress_point *p = &stress->points[point];
    const th_key keys[] = {
        {"maximum", TH_INK_VERMILION, false}, {"p99", TH_INK_BLUE, false}, {"p50", TH_INK_GREEN, false}};
    char note[160] = "";
    if (p->error_count == 0)
        return;
    th_append(note, sizeof note, "One frame in %s of this crowd, measured afterwards; over its visible characters.",
              th_digits_from(stress->error_every).text);
    const th_plot_desc desc = {
        .title = "Error on screen",
        .note = note,
        .x_title = "seconds",
        .y_title = "pixels",
        .keys = keys,
        .key_count = 3,
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        draw_error_line(&plot, TH_INK_VERMILION, p, offsetof(th_stress_error, max_px));
        draw_error_line(&plot, TH_INK_BLUE, p, offsetof(th_stress_error, p99_px));
        draw_error_line(&plot, TH_INK_GREEN, p, offsetof(th_stress_error, p50_px));
    }
}

/* ---- the search ---- */

static void draw_probe(th_plot *plot, const th_capacity_probe *p)
{
    static const char *const stages[] = {"bracket", "search", "confirmation run"};
    th_plot_point(plot, p->meets_budget ? TH_INK_BLUE : TH_INK_VERMILION, p->stage == TH_CAPACITY_BRACKET, p->items,
                  p->p99_ns / 1e6, "%s: %s character%s, p99 %.4g ms, %u of %u ticks missed", stages[p->stage],
                  th_digits_from(p->items).text, th_plural(p->items), p->p99_ns / 1e6, p->ticks.missed,
                  p->ticks.scheduled);
}

/* Probes far from the result are not shown. */
static bool is_near(const th_capacity *search, const th_capacity_probe *p)
{
    const double items = search->confirmed.items;
    return p->items <= 2 * items && p->items >= items / 2;
}

static void draw_probes(const th_stress *stress, uint32_t point, FILE *file)
{
    const th_capacity *search = &stress->points[point].search;
    const th_key keys[] = {{"meets the budget", TH_INK_BLUE, false}, {"misses the budget", TH_INK_VERMILION, false}};
    th_plot_desc desc = {
        .title = "The search",
        .note = "Every number tried between half and twice the result. Hollow: a few frames, to bracket the "
                "result.",
        .x_title = "characters",
        .y_title = "p99 of the frame, ms",
        .x = th_axis_linear(),
        .y = th_axis_linear(),
        .keys = keys,
        .key_count = 2,
    };
    desc.x.least_step = 1;
    if (search->probe_count < 2)
        return;
    th_axis_include(&desc.y, stress->budget_ns / 1e6);
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        for (uint32_t i = 0; i < search->probe_count; i++)
            if (is_near(search, &search->probes[i]))
                draw_probe(&plot, &search->probes[i]);
        th_plot_rule_y(&plot, stress->budget_ns / 1e6, "budget");
    }
}

/* ---- all numbers of threads ---- */

/* From the result to the first number that failed. */
static void draw_point_of_all(th_plot *plot, const th_stress_point *p)
{
    if (p->search.first_failing > 0)
        th_plot_interval_y(plot, TH_INK_BLUE, p->threads, (th_interval){p->characters, p->search.first_failing});
    th_plot_point(plot, TH_INK_BLUE, !p->meets_budget, p->threads, p->characters, "%u thread%s: %s character%s",
                  p->threads, th_plural(p->threads), th_digits_from(p->characters).text, th_plural(p->characters));
}

static void draw_capacity(const th_stress *stress, FILE *file)
{
    const th_plot_desc desc = {
        .title = "Characters that meet the budget",
        .note = "Bars: up to the first number that failed.",
        .x_title = "threads",
        .y_title = "characters",
        .x = {.high = stress->points[stress->point_count - 1].threads, .least_step = 1},
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        for (uint32_t i = 0; i < stress->point_count; i++)
            if (has_figures(stress, i))
                draw_point_of_all(&plot, &stress->points[i]);
}

/* ---- the page ---- */

static void draw_point(const th_stress *stress, uint32_t point, FILE *file)
{
    const th_stress_point *p = &stress->points[point];
    char heading[1024] = "";
    if (!has_figures(stress, point))
        return;
    th_append(heading, sizeof heading, "%u thread%s: ", p->threads, th_plural(p->threads));
    th_stress_add_doubts(stress, p, heading, sizeof heading);
    if (heading[strlen(heading) - 1] == ')')
        th_append(heading, sizeof heading, ": ");
    if (p->characters == 0)
        th_append(heading, sizeof heading, p->search.is_frozen ? "no result" : "not even one character");
    else
        th_append(heading, sizeof heading, "%s character%s%s", th_digits_from(p->characters).text,
                  th_plural(p->characters), p->meets_budget ? "" : ", too many");
    th_html_plots(heading, NULL, file);
    draw_frames(stress, point, file);
    draw_errors(stress, point, file);
    draw_probes(stress, point, file);
    th_html_plots_end(file);
}

static bool draw_all(const void *result, FILE *file)
{
    const th_stress *stress = result;
    if (stress->report.is_dry_run)
        return true;
    if (stress->point_count > 1 && stress->searched && has_any_figures(stress)) {
        th_html_plots("All numbers of threads", NULL, file);
        draw_capacity(stress, file);
        th_html_plots_end(file);
    }
    for (uint32_t i = 0; i < stress->point_count; i++)
        draw_point(stress, i, file);
    return true;
}

bool th_stress_page(const th_stress *stress, const char *command, FILE *file)
{
    assert(stress && command && file);
    char headline[sizeof stress->headline + 32];
    if (!th_html_trouble(&stress->report, headline, sizeof headline))
        th_append(headline, sizeof headline, "%s%s", stress->report.is_partial ? "Partial, interrupted: " : "",
                  stress->headline);
    const th_html_head head = {"throng stress", headline, NULL, command};
    return th_html_report(&head, &th_stress_tables, &stress->report, stress, draw_all, file);
}
