/* The page of a scaling experiment. */
#include "html.h"
#include "scale_plots.h"
#include "tables.h"

#include <throng/bench/page.h>

/* ---- the headline ---- */

static void write_headline(const th_scale *scale, char *out, size_t size)
{
    static const char *const limits[TH_BOTTLENECK_COUNT] = {
        "bottleneck unclear",       "limited by computing",          "limited by memory",
        "limited by the cores",     "limited by imbalance",          "limited by wake-ups",
        "limited by a serial part", "limited by the number of CPUs", "limited by other programs",
    };
    const th_scale_curve *curve = &scale->curves[0];
    const th_scale_point *first = &scale->points[curve->first], *last = th_scale_last(scale, curve);
    if (th_html_trouble(&scale->report, out, size) || !last)
        return;
    if (last->threads == first->threads || !th_scale_has_figures(scale, curve->first))
        th_append(out, size, "%s characters a second on %u thread%s",
                  th_digits_from((uint64_t)th_scale_throughput(curve, last)).text, last->threads,
                  th_plural(last->threads));
    else
        th_append(out, size, "%.2f times as fast on %u threads as on %u (%.0f %% efficiency)", last->speed_up,
                  last->threads, first->threads, 100 * last->efficiency);
    th_append(out, size, ", %s", limits[scale->bottleneck.kind]);
}

/* ---- the page ---- */

static void draw_all(const th_scale *scale, FILE *file)
{
    th_html_section("Plots", file);
    th_html_figures(file);
    th_scale_plot_curves(scale, file);
    th_scale_plot_time(scale, file);
    th_html_figures_end(file);
    th_html_section_end(file);
}

bool th_scale_page(const th_scale *scale, const char *command, FILE *file)
{
    const th_report *report = &scale->report;
    const bool has_any = !report->is_dry_run && th_scale_last(scale, &scale->curves[0]);
    char headline[256] = "";
    write_headline(scale, headline, sizeof headline);
    th_html_begin(&(th_html_head){"throng scale", headline, has_any ? scale->bottleneck.text : NULL, command}, file);
    th_html_conditions(report, file);
    th_scale_print_how(scale, TH_FORMAT_HTML, file);
    th_html_warnings(report, file);
    bool made = th_html_failures(report, file);
    if (has_any)
        draw_all(scale, file);
    th_html_section("Figures", file);
    made = (report->is_dry_run ? th_report_print_dry_run(report, TH_FORMAT_HTML, file)
                               : th_scale_print_figures(scale, TH_FORMAT_HTML, file)) &&
           made;
    th_html_section_end(file);
    made = th_html_context(report, file) && made;
    return th_html_end(file) && made;
}
