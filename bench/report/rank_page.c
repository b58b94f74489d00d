/* The page of the scaling over ranks. */
#include "html.h"
#include "plot.h"

#include <throng/bench/page.h>
#include <throng/bench/rank_scaling.h>
#include <throng/core/text_format.h>

#include <assert.h>
#include <math.h>

/* ---- the headline ---- */

static void write_headline(const th_rank_scaling *s, char *out, size_t size)
{
    const th_rank_point *first = &s->points[0], *last = &s->points[s->point_count - 1];
    out[0] = '\0';
    if (s->rounds_done < s->rounds)
        th_append(out, size, "Partial, %u of %u rounds%s", s->rounds_done, s->rounds, s->rounds_done ? ": " : "");
    if (s->rounds_done == 0)
        return;
    if (s->point_count > 1)
        th_append(out, size, "%.2f times as %s on %u ranks as on %u (%.0f %% efficiency)", last->speed_up,
                  s->is_weak ? "many characters a second" : "fast", last->ranks, first->ranks, 100 * last->efficiency);
    else
        th_append(out, size, "%.4g bones a second on %u rank%s", last->bones_per_s, last->ranks,
                  th_plural(last->ranks));
    if (s->budget_ns > 0)
        th_append(out, size, ", p99 %.4g ms: %s %.4g ms", last->p99_ns / 1e6,
                  th_rank_scaling_misses_budget(s) ? "misses" : "meets", s->budget_ns / 1e6);
}

/* ---- plots ---- */

/* Logarithmic for many ranks: equal ratios then have equal distances. */
static th_axis ranks_axis(const th_rank_scaling *s)
{
    const double least = s->points[0].ranks, most = s->points[s->point_count - 1].ranks;
    th_axis axis = most / least > 16 ? th_axis_log() : th_axis_linear();
    axis.least_step = 1;
    th_axis_include(&axis, axis.is_log ? least : 0);
    th_axis_include(&axis, most);
    return axis;
}

static void draw_scaling(const th_rank_scaling *s, bool is_efficiency, FILE *file)
{
    enum { CURVE_POINTS = 64 };
    static const th_key keys[] = {{"measured", TH_INK_BLUE, false}, {"ideal", TH_INK_GREY, true}};
    const double least = s->points[0].ranks, most = s->points[s->point_count - 1].ranks;
    th_plot_desc desc = {
        .title = is_efficiency ? "Efficiency" : "Speed-up",
        .note = is_efficiency ? "Speed-up over the ratio of ranks; what is missing to 100 % is lost."
                : s->is_weak  ? "Weak scaling: the crowd grows with the ranks; characters a second count."
                              : "Strong scaling: the same crowd on more ranks. Of frames that are posed.",
        .x_title = "ranks",
        .y_title = is_efficiency ? "percent of the ideal" : "times as fast",
        .x = ranks_axis(s),
        .keys = keys,
        .key_count = 2,
    };
    if (desc.x.is_log && !is_efficiency) /* the ideal becomes a straight line */
        desc.y = th_axis_log();
    th_axis_include(&desc.y, is_efficiency ? 100 : most / least);
    double x[CURVE_POINTS], y[CURVE_POINTS];
    for (int i = 0; i < CURVE_POINTS; i++) {
        x[i] = least * pow(most / least, (double)i / (CURVE_POINTS - 1));
        y[i] = is_efficiency ? 100 : x[i] / least;
    }
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        th_plot_line(&plot, TH_INK_GREY, true, x, y, CURVE_POINTS);
        for (uint32_t i = 0; i < s->point_count; i++) {
            const th_rank_point *p = &s->points[i];
            th_plot_point(&plot, TH_INK_BLUE, false, p->ranks, is_efficiency ? 100 * p->efficiency : p->speed_up,
                          "%u rank%s: %.2f times as fast, %.1f %% efficiency, %.3f ms a frame", p->ranks,
                          th_plural(p->ranks), p->speed_up, 100 * p->efficiency, p->frame_ns / 1e6);
        }
    }
}

static void draw_stages(const th_rank_scaling *s, FILE *file)
{
    static const th_key keys[TH_RANK_STAGE_COUNT] = {
        [TH_RANK_POSES] = {"poses", TH_INK_BLUE, false},
        [TH_RANK_GATHER] = {"poses and gather", TH_INK_VERMILION, false},
        [TH_RANK_BARE_BARRIER] = {"barrier alone", TH_INK_GREEN, false},
        [TH_RANK_BARE_GATHER] = {"gather alone", TH_INK_PURPLE, false},
    };
    const th_plot_desc desc = {
        .title = "Time of a frame",
        .note = "Medians on rank 0. Gathered palettes all go to rank 0.",
        .x_title = "ranks",
        .y_title = "ms",
        .x = ranks_axis(s),
        .keys = keys,
        .key_count = TH_RANK_STAGE_COUNT,
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot))
        for (int stage = 0; stage < TH_RANK_STAGE_COUNT; stage++) {
            double last_x = (double)NAN, last_y = (double)NAN;
            for (uint32_t i = 0; i < s->point_count; i++) {
                const th_rank_point *p = &s->points[i];
                const double x = p->ranks, y = th_samples_stats(&p->stages[stage]).median / 1e6;
                th_plot_line(&plot, keys[stage].ink, false, (const double[]){last_x, x}, (const double[]){last_y, y},
                             2);
                th_plot_point(&plot, keys[stage].ink, false, x, y, "%s, %u rank%s: %.4g ms", keys[stage].text, p->ranks,
                              th_plural(p->ranks), y);
                last_x = x;
                last_y = y;
            }
        }
}

static bool draw_all(const void *result, FILE *file)
{
    const th_rank_scaling *s = result;
    if (s->rounds_done == 0 || s->point_count == 1)
        return true;
    th_html_plots("Plots", NULL, file);
    draw_scaling(s, false, file);
    draw_scaling(s, true, file);
    draw_stages(s, file);
    th_html_plots_end(file);
    return true;
}

bool th_rank_scaling_page(const th_rank_scaling *s, const char *command, FILE *file)
{
    assert(s && command && file);
    char headline[256];
    write_headline(s, headline, sizeof headline);
    const th_html_head head = {s->has_gather ? "throng-mpi scale" : "throng-mpi stress", headline, NULL, command};
    return th_html_report(&head, &th_rank_tables, &s->report, s, draw_all, file);
}
