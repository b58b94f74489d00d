/* The page of a scaling experiment. */
#include "html.h"
#include "scale_plots.h"
#include "scaling/share_text.h"

#include <throng/bench/page.h>

#include <assert.h>

/* ---- the headline ---- */

static void write_headline(const th_scale *scale, char *out, size_t size)
{
    static const char *const limits[TH_BOTTLENECK_COUNT] = {
        "bottleneck unclear",       "limited by computing",          "limited by memory",
        "limited by the cores",     "limited by imbalance",          "limited by wake-ups",
        "limited by a serial part", "limited by the number of CPUs", "disturbed from outside",
    };
    const th_scale_curve *curve = &scale->curves[0];
    const th_scale_point *first = &scale->points[curve->first], *last = th_scale_last(scale, curve);
    if (th_html_trouble(&scale->report, out, size) || !last)
        return;
    th_append(out, size, "%s", scale->report.is_partial ? "Partial, interrupted: " : "");
    if (scale->bottleneck.kind == TH_BOTTLENECK_EXTERNAL_LOAD)
        th_append(out, size, "Disturbed from outside: ");
    const th_interval *efficiency = &last->efficiency_interval;
    if (last->efficiency > TH_BOTTLENECK_MAX_EFFICIENCY) {
        th_append(out, size, "The speed-up is impossible: the first point was disturbed");
        return;
    }
    if (last->threads == first->threads || !th_scale_has_figures(scale, curve->first))
        th_append(out, size, "%s characters a second on %u thread%s",
                  th_digits_from((uint64_t)th_scale_throughput(last)).text, last->threads, th_plural(last->threads));
    else
        th_append(out, size, "%.2f times as %s on %u threads as on %u (%s efficiency)", last->speed_up,
                  scale->is_weak ? "many characters a second" : "fast", last->threads, first->threads,
                  th_share_text_of(&(th_estimate){last->efficiency, efficiency->low, efficiency->high}).text);
    if (scale->bottleneck.kind != TH_BOTTLENECK_EXTERNAL_LOAD)
        th_append(out, size, ", %s", limits[scale->bottleneck.kind]);
}

/* ---- the page ---- */

static bool has_any(const th_scale *scale)
{
    return !scale->report.is_dry_run && th_scale_last(scale, &scale->curves[0]);
}

static bool draw_all(const void *result, FILE *file)
{
    if (!has_any(result))
        return true;
    th_html_plots("Plots", NULL, file);
    th_scale_plot_curves(result, file);
    th_scale_plot_time(result, file);
    th_html_plots_end(file);
    return true;
}

bool th_scale_page(const th_scale *scale, const char *command, FILE *file)
{
    assert(scale && command && file);
    char headline[256] = "";
    write_headline(scale, headline, sizeof headline);
    const th_html_head head = {"throng scale", headline, has_any(scale) ? scale->bottleneck.text : NULL, command};
    return th_html_report(&head, &th_scale_tables, &scale->report, scale, draw_all, file);
}
